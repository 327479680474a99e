// A keyed container is a box on the heap. A frame keeps the last one it made and hands it out again when nobody else
// holds it, which saves the allocation for every object of the same type.

struct ContainerBoxes {
    /// Containers made by this frame carry this number; another number is from an earlier use.
    private(set) var serial: UInt
    private var type: ObjectIdentifier?
    /// Owned here. Counted by hand, since it is looked at far more often than it changes.
    private var kept: Unmanaged<KeptBox>?
    private var madeSeveral = false
    private var isHandedOut = false

    init(serial: UInt) { self.serial = serial }

    /// The kept container for this type of key, if nobody holds it.
    @inline(__always)
    mutating func kept<Container>(for keyType: Any.Type, _ type: Container.Type) -> Unmanaged<KeptContainer<Container>>?
    {
        guard self.type == ObjectIdentifier(keyType), let kept else { return nil }
        guard !isHandedOut || kept._withUnsafeGuaranteedRef({ $0.isUnused }) else { return nil }
        isHandedOut = true
        return unsafeBitCast(kept, to: Unmanaged<KeptContainer<Container>>.self)
    }

    /// Keeps a container under its type of key. It must be one reference to a class instance and nothing else.
    @inline(never)
    mutating func keep<Container>(_ container: Container, as keyType: Any.Type) {
        guard MemoryLayout<Container>.size == MemoryLayout<AnyObject>.size else {
            madeSeveral = true
            return
        }
        if isHandedOut && !isUnused { madeSeveral = true }
        kept?.release()
        kept = Unmanaged<KeptBox>.passRetained(KeptContainer(container))
        type = ObjectIdentifier(keyType)
        isHandedOut = true
    }

    private var isUnused: Bool { kept?._withUnsafeGuaranteedRef { $0.isUnused } ?? true }

    /// Whether this frame's containers are out of everyone's hands.
    var areUnused: Bool { !madeSeveral && isUnused }

    /// Ends a use of the frame. If anyone may still hold a container of it, the next use gets another number.
    @inline(__always)
    mutating func endUse(_ nextSerial: () -> UInt) {
        guard isHandedOut || madeSeveral else { return }
        isHandedOut = false
        if madeSeveral || !isUnused { renew(nextSerial()) }
    }

    @inline(never)
    mutating func renew(_ next: UInt) {
        serial = next
        type = nil
        kept?.release()
        kept = nil
        madeSeveral = false
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

/// The same with the container's type. Whoever knows just the type of key would have to look that one up for every copy,
/// which costs more than all the rest; an object brings it along.
final class KeptContainer<Container>: KeptBox {
    fileprivate init(_ container: Container) { super.init(unsafeBitCast(container, to: AnyObject.self)) }

    @inline(never)
    func copy() -> Container { UnsafeRawPointer(place).assumingMemoryBound(to: Container.self).pointee }
}
