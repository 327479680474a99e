// Values by name. A name is looked up as the bytes of a message, so that finding a method or an object makes no string.

import JSONCodec
import RPCWire

/// The bytes of a name, of which the second part may be empty.
typealias NameParts = (first: UnsafeRawBufferPointer, rest: UnsafeRawBufferPointer)

/// What a message asks for: `Greeter.greet`, or `Greeter[left].greet`.
///
/// `@unchecked Sendable`: a view of memory that is only read. The caller keeps it for as long.
struct WireName: @unchecked Sendable {
    /// The name without that of the object.
    let method: NameParts
    /// The name in brackets; nil if there is none.
    let object: UnsafeRawBufferPointer?

    init(_ name: UnsafeRawBufferPointer) {
        // An object's name may have brackets and dots. Behind it come a dot and the name of a method, which has neither.
        guard let end = name.lastIndex(of: UInt8(ascii: "]")), let start = name.firstIndex(of: UInt8(ascii: "[")),
            start < end, name[(end + 1)...].lastIndex(of: UInt8(ascii: ".")) == end + 1
        else {
            (method, object) = ((name, .empty), nil)
            return
        }
        func part(_ range: Range<Int>) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: name[range]) }
        method = (part(0..<start), part(end + 1..<name.count))
        object = part(start + 1..<end)
    }

    private init(method: NameParts, object: UnsafeRawBufferPointer?) {
        (self.method, self.object) = (method, object)
    }

    /// The handle of an object by reference, which is named `#` and a number; nil for any other name.
    var handle: Int64? {
        guard let object, object.first == UInt8(ascii: "#") else { return nil }
        return Self.handle(object.dropFirst())
    }

    /// The handle of the object and the name of its method, if this is the name of a call as StreamJsonRpc makes it:
    /// `$/invokeProxy/5/read`.
    var invoked: (handle: Int64, WireName)? {
        guard object == nil, method.rest.isEmpty, method.first.starts(with: SystemMethod.invoke.utf8) else {
            return nil
        }
        let rest = method.first.dropFirst(SystemMethod.invoke.utf8.count)
        guard let slash = rest.firstIndex(of: UInt8(ascii: "/")), let handle = Self.handle(rest[..<slash]) else {
            return nil
        }
        let name = UnsafeRawBufferPointer(rebasing: rest[(slash + 1)...])
        return (handle, WireName(method: (name, .empty), object: nil))
    }

    private static func handle(_ digits: Slice<UnsafeRawBufferPointer>) -> Int64? {
        guard (1...18).contains(digits.count) else { return nil }
        var handle: Int64 = 0
        for byte in digits {
            let digit = byte &- UInt8(ascii: "0")
            guard digit < 10, handle > 0 || digit > 0 else { return nil }
            handle = handle * 10 + Int64(digit)
        }
        return handle
    }

    /// The service, of a name that names an object.
    var service: UnsafeRawBufferPointer { object == nil ? .empty : method.first }
}

/// Names are the same if they have the same bytes in UTF-8. Looking one up takes as long as hashing it, however many there are.
struct NameTable<Value> {
    private typealias Slot = (name: String, value: Value)

    /// As many as a power of two. A name is in the slot that its hash says, or in one of the taken slots behind that one.
    private var slots: [Slot?] = []
    private(set) var count = 0

    /// The value of the name with these parts; nil if there is none.
    func value(_ name: NameParts) -> Value? {
        place(name).flatMap { slots[$0]?.value }
    }

    subscript(name: String) -> Value? { place(name).flatMap { slots[$0]?.value } }

    /// All values, in no particular order.
    var values: [Value] { slots.compactMap { $0?.value } }

    /// Adds a value. There must be none of that name.
    mutating func add(_ value: Value, named name: String) {
        // At least a quarter of the slots is free, so that searches end soon.
        if count * 4 >= slots.count * 3 { grow() }
        put((name, value))
        count += 1
    }

    /// Takes a value out. Does nothing if there is none of that name.
    mutating func remove(_ name: String) {
        guard var place = place(name) else { return }
        slots[place] = nil
        count -= 1
        // The slots behind may be taken by names that this one kept from their place.
        place = next(place)
        while let slot = slots[place] {
            slots[place] = nil
            put(slot)
            place = next(place)
        }
    }

    private mutating func put(_ slot: Slot) {
        var place = slot.name.withBytes { start(($0, .empty)) }
        while slots[place] != nil { place = next(place) }
        slots[place] = slot
    }

    private mutating func grow() {
        let former = slots
        slots = Array(repeating: nil, count: max(8, former.count * 2))
        for case let slot? in former { put(slot) }
    }

    private func place(_ name: String) -> Int? { name.withBytes { place(($0, .empty)) } }

    private func place(_ name: NameParts) -> Int? {
        guard count > 0 else { return nil }
        var place = start(name)
        while let slot = slots[place] {
            if slot.name.withBytes({ $0.isEqual(name) }) { return place }
            place = next(place)
        }
        return nil
    }

    /// Where the search for a name begins. Other places in each process, because a program may take names from its peers.
    private func start(_ name: NameParts) -> Int {
        var hasher = Hasher()
        hasher.combine(bytes: name.first)
        hasher.combine(bytes: name.rest)
        return hasher.finalize() & (slots.count - 1)
    }

    private func next(_ place: Int) -> Int { (place + 1) & (slots.count - 1) }
}

extension NameTable: Sendable where Value: Sendable {}

extension String {
    /// Whether these are its bytes in UTF-8.
    func isEqual(_ name: UnsafeRawBufferPointer) -> Bool { withBytes { $0.hasEqualBytes(name) } }

    fileprivate func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        var text = self
        return text.withUTF8 { body(UnsafeRawBufferPointer($0)) }
    }
}

extension UnsafeRawBufferPointer {
    static var empty: Self { UnsafeRawBufferPointer(start: nil, count: 0) }

    fileprivate func isEqual(_ name: NameParts) -> Bool {
        count == name.first.count + name.rest.count
            && Self(rebasing: self[..<name.first.count]).hasEqualBytes(name.first)
            && Self(rebasing: self[name.first.count...]).hasEqualBytes(name.rest)
    }
}
