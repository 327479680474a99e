// Decides how values of a type are coded: by the type's own code, or directly from and to the text. Decided once for each type.

/// How values of a type are coded. `Direct` codes an array or a dictionary without containers.
enum CodingPlan<Direct> {
    /// By the type's own `init(from:)` or `encode(to:)`.
    case ordinary
    /// An array whose values are one token each.
    case tokens(any JSONPrimitive.Type, Direct)
    case direct(Direct)
    /// In the form that Foundation's coder gives to one of its own types.
    case foundation(FoundationType)
}

/// Remembers one value for each type. For one thread at a time. Not to be copied: copies share its memory, which is never freed.
struct TypeTable<Value> {
    private var entries: UnsafeMutablePointer<(type: UInt, value: Value)?>
    private var capacity = 64
    private var count = 0

    init() {
        entries = .allocate(capacity: capacity)
        entries.initialize(repeating: nil, count: capacity)
    }

    @inline(__always)
    mutating func value(for type: Any.Type, _ make: () -> Value) -> Value {
        let key = UInt(bitPattern: ObjectIdentifier(type))
        var slot = slot(of: key)
        while let entry = entries[slot] {
            if entry.type == key { return entry.value }
            slot = (slot &+ 1) & (capacity &- 1)
        }
        let value = make()
        insert(key, value)
        return value
    }

    @inline(__always)
    private func slot(of key: UInt) -> Int {
        Int(truncatingIfNeeded: (key &* 0x9E37_79B9_7F4A_7C15) &>> 32) & (capacity &- 1)
    }

    @inline(never)
    private mutating func insert(_ key: UInt, _ value: Value) {
        if count * 2 >= capacity { grow() }
        var slot = slot(of: key)
        while entries[slot] != nil { slot = (slot &+ 1) & (capacity &- 1) }
        entries[slot] = (key, value)
        count += 1
    }

    private mutating func grow() {
        let (old, oldCapacity) = (entries, capacity)
        capacity *= 2
        count = 0
        entries = .allocate(capacity: capacity)
        entries.initialize(repeating: nil, count: capacity)
        for index in 0..<oldCapacity {
            if let entry = old[index] { insert(entry.type, entry.value) }
        }
        old.deinitialize(count: oldCapacity)
        old.deallocate()
    }
}

/// A type of Foundation that its coders write in another form than `encode(to:)` does. It is recognised by its name, so that
/// programs without such types do not link Foundation.
enum FoundationType {
    case data
    case url
    case decimal

    init?(_ type: Any.Type) {
        switch _typeName(type, qualified: true) {
        case "FoundationEssentials.Data", "Foundation.Data": self = .data
        case "FoundationEssentials.URL", "Foundation.URL": self = .url
        case "FoundationEssentials.Decimal", "Foundation.Decimal", "__C.NSDecimal": self = .decimal
        default: return nil
        }
    }
}
