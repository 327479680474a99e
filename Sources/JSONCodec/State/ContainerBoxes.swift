// A keyed container is a box on the heap. A frame keeps the last one it made and hands it out again when nobody else
// holds it, which saves the allocation for every object of the same type.

struct ContainerBoxes {
    /// Containers made by this frame carry this number; another number is from an earlier use.
    private(set) var serial: UInt
    private var type: ObjectIdentifier?
    private var box: AnyObject?
    private var madeSeveral = false
    private var isHandedOut = false

    init(serial: UInt) { self.serial = serial }

    /// The kept container for this type of key, if nobody holds it.
    @inline(__always)
    mutating func kept(_ type: Any.Type) -> AnyObject? {
        guard self.type == ObjectIdentifier(type), !isHandedOut || isKnownUniquelyReferenced(&box) else { return nil }
        isHandedOut = true
        return box
    }

    /// Keeps a container under its type of key. It must be one reference to a class instance and nothing else.
    @inline(never)
    mutating func keep<Container>(_ container: Container, as keyType: Any.Type) {
        guard MemoryLayout<Container>.size == MemoryLayout<AnyObject>.size else {
            madeSeveral = true
            return
        }
        if isHandedOut && !isKnownUniquelyReferenced(&box) { madeSeveral = true }
        type = ObjectIdentifier(keyType)
        box = unsafeBitCast(container, to: AnyObject.self)
        isHandedOut = true
    }

    /// Whether this frame's containers are out of everyone's hands.
    var areUnused: Bool {
        mutating get { !madeSeveral && (box == nil || isKnownUniquelyReferenced(&box)) }
    }

    /// Ends a use of the frame. If anyone may still hold a container of it, the next use gets another number.
    @inline(__always)
    mutating func endUse(_ nextSerial: () -> UInt) {
        guard isHandedOut || madeSeveral else { return }
        isHandedOut = false
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
