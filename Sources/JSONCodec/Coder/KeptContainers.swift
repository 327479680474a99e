// Reuses the heap box of a keyed container. A frame keeps one box for each key type, and uses it again when the user's code has
// released the container. Without it a call with a record of ten fields takes 11 % more instructions, at both ends together. Each key
// type also has its known names here.

struct KeptContainers {
    private struct Entry {
        let type: ObjectIdentifier
        let names: UnsafeMutablePointer<KnownNames>
        /// Retained by hand: it is read far more often than it changes.
        var box: Unmanaged<KeptBox>?
        var isHandedOut = false
    }

    private static let capacity = 8

    /// The number of this use of the frame. A container with another number belongs to an earlier use.
    private(set) var serial: UInt
    /// The known names of the key type that was asked for last.
    private(set) var names: UnsafeMutablePointer<KnownNames>
    private let entries = UnsafeMutablePointer<Entry>.allocate(capacity: Self.capacity)
    private var count = 0
    private var current = 0
    /// Whether a container was made that is not tracked here, so that its references cannot be counted.
    private var madeUntracked = false
    private var hasHandedOut = false

    init(serial: UInt) {
        self.serial = serial
        names = .allocate(capacity: 1)
        names.initialize(to: KnownNames())
    }

    /// Returns the kept container for this key type, unless it is still in use. Selects the names of the type.
    @inline(__always)
    mutating func kept<Container>(for keyType: Any.Type, _ type: Container.Type) -> Unmanaged<KeptContainer<Container>>?
    {
        let key = ObjectIdentifier(keyType)
        if current >= count || entries[current].type != key { select(key) }
        let entry = entries + current
        // The entry owns the box for as long as it exists, so a question needs no count.
        guard let box = entry.pointee.box,
            !entry.pointee.isHandedOut || box._withUnsafeGuaranteedRef({ $0.isUnused })
        else { return nil }
        entry.pointee.isHandedOut = true
        hasHandedOut = true
        // `select` found the entry of this key type, and an entry's box is made for the container of its key type alone.
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
            // No entry is free, so the first one is replaced.
            current = 0
            if !isUnused(current) { madeUntracked = true }
            entries[current].box?.release()
            entries[current].names.pointee.deallocate()
            entries[current].names.deinitialize(count: 1).deallocate()
            entries[current] = Entry(type: key, names: names)
        }
    }

    /// Keeps a new container for the key type that was asked for last.
    ///
    /// The container must be a single object reference. The size is checked here. The rest is known only of the standard
    /// libraries of some compilers; with others nothing is kept.
    @inline(never)
    mutating func keep<Container>(_ container: Container) {
        #if KNOWN_RUNTIME && arch(x86_64) && canImport(Glibc)
            guard MemoryLayout<Container>.size == MemoryLayout<AnyObject>.size else {
                madeUntracked = true
                return
            }
            if !isUnused(current) { madeUntracked = true }
            entries[current].box?.release()
            entries[current].box = Unmanaged<KeptBox>.passRetained(KeptContainer(container))
            entries[current].isHandedOut = true
            hasHandedOut = true
        #else
            madeUntracked = true
        #endif
    }

    private func isUnused(_ index: Int) -> Bool {
        guard entries[index].isHandedOut, let box = entries[index].box else { return true }
        // The entry owns the box.
        return box._withUnsafeGuaranteedRef { $0.isUnused }
    }

    /// Whether the user's code holds no container of this frame any more.
    var areUnused: Bool { !madeUntracked && (!hasHandedOut || (0..<count).allSatisfy { isUnused($0) }) }

    /// Ends a use of the frame. If a container of it may still be in use, the next use gets another number.
    @inline(__always)
    mutating func endUse(_ nextSerial: () -> UInt) {
        guard hasHandedOut || madeUntracked else { return }
        hasHandedOut = false
        var areUnused = !madeUntracked
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
        madeUntracked = false
    }
}

/// A box in memory of its own, whose references can be counted.
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

/// A box that knows the container's type. Finding that type from the key type would be slow.
final class KeptContainer<Container>: KeptBox {
    /// A keyed container is one class reference on the runtimes that `KNOWN_RUNTIME` stands for. Elsewhere none is kept.
    fileprivate init(_ container: Container) { super.init(unsafeBitCast(container, to: AnyObject.self)) }

    @inline(never)
    func copy() -> Container { UnsafeRawPointer(place).assumingMemoryBound(to: Container.self).pointee }
}
