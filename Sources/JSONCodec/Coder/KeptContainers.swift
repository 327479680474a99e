// The standard library puts each keyed container into a box on the heap. A frame keeps a box for each type of key and hands
// it out again if it is not held any more, which saves a fifth of coding a small object. The names go with the type of key.

struct KeptContainers {
    private struct Entry {
        let type: ObjectIdentifier
        let names: UnsafeMutablePointer<KnownNames>
        /// Owned here. Counted by hand, since it is looked at far more often than it changes.
        var box: Unmanaged<KeptBox>?
        var isHandedOut = false
    }

    private static let capacity = 8

    /// Containers made by this frame carry this number; another number is from an earlier use.
    private(set) var serial: UInt
    /// Those of the type of key that was asked for last.
    private(set) var names: UnsafeMutablePointer<KnownNames>
    private let entries = UnsafeMutablePointer<Entry>.allocate(capacity: Self.capacity)
    private var count = 0
    private var current = 0
    /// A container was made whose holders cannot be counted.
    private var madeOthers = false
    private var hasHandedOut = false

    init(serial: UInt) {
        self.serial = serial
        names = .allocate(capacity: 1)
        names.initialize(to: KnownNames())
    }

    /// The kept container for this type of key, unless it is still held elsewhere. The names are those of the type from here on.
    @inline(__always)
    mutating func kept<Container>(for keyType: Any.Type, _ type: Container.Type) -> Unmanaged<KeptContainer<Container>>?
    {
        let key = ObjectIdentifier(keyType)
        if current >= count || entries[current].type != key { select(key) }
        let entry = entries + current
        guard let box = entry.pointee.box,
            !entry.pointee.isHandedOut || box._withUnsafeGuaranteedRef({ $0.isUnused })
        else { return nil }
        entry.pointee.isHandedOut = true
        hasHandedOut = true
        return unsafeBitCast(box, to: Unmanaged<KeptContainer<Container>>.self)
    }

    @inline(never)
    private mutating func select(_ key: ObjectIdentifier) {
        current = 0
        while current < count, entries[current].type != key { current += 1 }
        if current == count { add(key) }
        names = entries[current].names
    }

    private mutating func add(_ key: ObjectIdentifier) {
        let names = UnsafeMutablePointer<KnownNames>.allocate(capacity: 1)
        names.initialize(to: KnownNames())
        if count < Self.capacity {
            (entries + count).initialize(to: Entry(type: key, names: names))
            count += 1
        } else {
            // In place of another one.
            current = 0
            if !isUnused(current) { madeOthers = true }
            entries[current].box?.release()
            entries[current].names.pointee.deallocate()
            entries[current].names.deinitialize(count: 1).deallocate()
            entries[current] = Entry(type: key, names: names)
        }
    }

    /// Keeps a new container for the type of key that was asked for last.
    ///
    /// The container must be one reference to a class instance and nothing else. That is known of the standard library only for
    /// some compilers; for others nothing is kept.
    @inline(never)
    mutating func keep<Container>(_ container: Container) {
        #if KNOWN_RUNTIME
            guard MemoryLayout<Container>.size == MemoryLayout<AnyObject>.size else {
                madeOthers = true
                return
            }
            if !isUnused(current) { madeOthers = true }
            entries[current].box?.release()
            entries[current].box = Unmanaged<KeptBox>.passRetained(KeptContainer(container))
            entries[current].isHandedOut = true
            hasHandedOut = true
        #else
            madeOthers = true
        #endif
    }

    private func isUnused(_ index: Int) -> Bool {
        guard entries[index].isHandedOut, let box = entries[index].box else { return true }
        return box._withUnsafeGuaranteedRef { $0.isUnused }
    }

    /// Whether all containers of this frame are out of the user's hands.
    var areUnused: Bool { !madeOthers && (!hasHandedOut || (0..<count).allSatisfy { isUnused($0) }) }

    /// Ends a use of the frame. If a container of it may still be held, the next use gets another number.
    @inline(__always)
    mutating func endUse(_ nextSerial: () -> UInt) {
        guard hasHandedOut || madeOthers else { return }
        hasHandedOut = false
        var areUnused = !madeOthers
        for index in 0..<count where entries[index].isHandedOut {
            if !isUnused(index) { areUnused = false }
            entries[index].isHandedOut = false
        }
        if !areUnused { renew(nextSerial()) }
    }

    @inline(never)
    private mutating func renew(_ next: UInt) {
        serial = next
        for index in 0..<count {
            entries[index].box?.release()
            entries[index].box = nil
        }
        madeOthers = false
    }
}

/// A box in memory of its own, where its references can be counted.
class KeptBox {
    fileprivate let place: UnsafeMutablePointer<AnyObject>

    fileprivate init(_ box: AnyObject) {
        place = .allocate(capacity: 1)
        place.initialize(to: box)
    }

    deinit {
        place.deinitialize(count: 1)
        place.deallocate()
    }

    @inline(__always)
    fileprivate final var isUnused: Bool { isKnownUniquelyReferenced(&place.pointee) }
}

/// The same with the container's type, which is slow to look up for a type of key.
final class KeptContainer<Container>: KeptBox {
    fileprivate init(_ container: Container) { super.init(unsafeBitCast(container, to: AnyObject.self)) }

    @inline(never)
    func copy() -> Container { UnsafeRawPointer(place).assumingMemoryBound(to: Container.self).pointee }
}
