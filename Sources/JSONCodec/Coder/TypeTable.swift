// Remembers for each type how it is coded, so that looking at a type's name or conformances happens once.

struct TypeTable<Plan> {
    private var entries: UnsafeMutablePointer<(type: UInt, plan: Plan)?>
    private var capacity = 64
    private var count = 0

    init() {
        entries = .allocate(capacity: capacity)
        entries.initialize(repeating: nil, count: capacity)
    }

    @inline(__always)
    mutating func plan(for type: Any.Type, _ make: () -> Plan) -> Plan {
        let key = UInt(bitPattern: ObjectIdentifier(type))
        var slot = Self.slot(key, capacity)
        while let entry = entries[slot] {
            if entry.type == key { return entry.plan }
            slot = (slot &+ 1) & (capacity &- 1)
        }
        let plan = make()
        insert(key, plan)
        return plan
    }

    @inline(__always)
    private static func slot(_ key: UInt, _ capacity: Int) -> Int {
        Int(truncatingIfNeeded: (key &* 0x9E37_79B9_7F4A_7C15) &>> 32) & (capacity &- 1)
    }

    @inline(never)
    private mutating func insert(_ key: UInt, _ plan: Plan) {
        if count * 2 >= capacity { grow() }
        var slot = Self.slot(key, capacity)
        while entries[slot] != nil { slot = (slot &+ 1) & (capacity &- 1) }
        entries[slot] = (key, plan)
        count += 1
    }

    private mutating func grow() {
        let old = entries
        let oldCapacity = capacity
        capacity *= 2
        count = 0
        entries = .allocate(capacity: capacity)
        entries.initialize(repeating: nil, count: capacity)
        for index in 0..<oldCapacity {
            if let entry = old[index] { insert(entry.type, entry.plan) }
        }
        old.deinitialize(count: oldCapacity)
        old.deallocate()
    }
}
