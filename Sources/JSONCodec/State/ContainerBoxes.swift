// A keyed container is a box on the heap. A frame keeps the last one it made and hands it out again when nobody else
// holds it, which saves the allocation for every object of the same type.

struct ContainerBoxes {
    /// Containers made by this frame carry this number; another number is from an earlier use.
    private(set) var serial: UInt
    private var type: ObjectIdentifier?
    private var box: AnyObject?
    private var madeSeveral = false

    init(serial: UInt) { self.serial = serial }

    /// The kept container of this type, if nobody holds it.
    @inline(__always)
    mutating func kept<Container>(_ type: Container.Type) -> Container? {
        guard self.type == ObjectIdentifier(type), isKnownUniquelyReferenced(&box), let box else { return nil }
        return unsafeBitCast(box, to: Container.self)
    }

    /// Keeps a container, which must be one reference to a class instance and nothing else.
    @inline(never)
    mutating func keep<Container>(_ container: Container) {
        guard MemoryLayout<Container>.size == MemoryLayout<AnyObject>.size else {
            madeSeveral = true
            return
        }
        if box != nil && !isKnownUniquelyReferenced(&box) { madeSeveral = true }
        type = ObjectIdentifier(Container.self)
        box = unsafeBitCast(container, to: AnyObject.self)
    }

    /// Whether this frame's containers are out of everyone's hands.
    var areUnused: Bool {
        mutating get { !madeSeveral && (box == nil || isKnownUniquelyReferenced(&box)) }
    }

    /// Ends a use of the frame. If anyone may still hold a container of it, the next use gets another number.
    @inline(__always)
    mutating func endUse(_ nextSerial: () -> UInt) {
        if box == nil && !madeSeveral { return }
        if madeSeveral || !isKnownUniquelyReferenced(&box) { renew(nextSerial()) }
    }

    @inline(never)
    mutating func renew(_ next: UInt) {
        serial = next
        type = nil
        box = nil
        madeSeveral = false
    }
}
