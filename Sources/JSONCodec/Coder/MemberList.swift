// The members of one object that were met so far: the decoder finds them by name here, and decoder and encoder alike
// notice a name that comes twice.

struct Member {
    /// Where the name starts, as a distance from the text's first byte.
    let name: Int
    let length: Int
    /// Where the decoder finds the value, or where the encoder wrote the member.
    let place: Int
    /// A quick mark of the name, equal for equal names.
    let mark: UInt32
}

/// Lives in a frame and is reused with it.
struct MemberList {
    private var members: UnsafeMutablePointer<Member>
    private(set) var count = 0
    private var capacity = Self.largestWithoutTable
    private var marksSeen: UInt64 = 0
    /// No two of them are equal, since all are known names.
    private var areKnown = true
    /// For the names of large objects: a table of member numbers. Hashed with a seed, since names come from a peer.
    private var table: [Int32] = []

    private static let largestWithoutTable = KnownNames.capacity
    private static let keptCapacity = 1024

    init() { members = .allocate(capacity: capacity) }

    func deallocate() { members.deallocate() }

    @inline(__always)
    subscript(index: Int) -> Member { members[index] }

    @inline(__always)
    mutating func removeAll() {
        count = 0
        marksSeen = 0
        areKnown = true
        if capacity > Self.largestWithoutTable { shrink() }
    }

    private mutating func shrink() {
        table.removeAll()
        guard capacity > Self.keptCapacity else { return }
        members.deallocate()
        capacity = Self.largestWithoutTable
        members = .allocate(capacity: capacity)
    }

    /// Adds a member whose name is the known one of its number. False, with nothing added, unless all before it are as well:
    /// the usual case, in which nothing has to be compared.
    @inline(__always)
    mutating func appendKnown(_ member: Member) -> Bool {
        guard areKnown, count < capacity else { return false }
        put(member)
        return true
    }

    /// Adds a member and returns the earlier one of the same name, if there is one.
    @inline(never)
    mutating func append(_ member: Member, in text: UnsafePointer<UInt8>) -> Int? {
        areKnown = false
        if count == capacity { grow() }
        let number = count
        let mayBeThere = marksSeen & Self.bit(member) != 0
        put(member)
        if number >= Self.largestWithoutTable { return enterTable(number, in: text) }
        guard mayBeThere else { return nil }
        return last(before: number, named: text + member.name, member.length, member.mark, in: text)
    }

    @inline(__always)
    private mutating func put(_ member: Member) {
        (members + count).initialize(to: member)
        count &+= 1
        marksSeen |= Self.bit(member)
    }

    @inline(__always)
    private static func bit(_ member: Member) -> UInt64 { 1 &<< UInt64(member.mark &>> 26) }

    /// Takes the last member back.
    mutating func removeLast(in text: UnsafePointer<UInt8>) {
        guard count > 0 else { return }
        count -= 1
        guard !table.isEmpty else { return }
        table = Array(repeating: -1, count: table.count)
        for number in 0..<count { _ = put(number, in: text) }
    }

    /// The last member of this name.
    @inline(__always)
    func last(named name: UnsafeBufferPointer<UInt8>, in text: UnsafePointer<UInt8>) -> Int? {
        let start = name.baseAddress ?? text
        if !table.isEmpty { return find(start, name.count, in: text) }
        return last(before: count, named: start, name.count, nil, in: text)
    }

    private func last(
        before end: Int, named name: UnsafePointer<UInt8>, _ length: Int, _ mark: UInt32?,
        in text: UnsafePointer<UInt8>
    ) -> Int? {
        var number = end &- 1
        while number >= 0 {
            let member = members[number]
            if member.length == length && (mark == nil || member.mark == mark)
                && equalBytes(text + member.name, name, length)
            {
                return number
            }
            number &-= 1
        }
        return nil
    }

    private mutating func grow() {
        let moved = UnsafeMutablePointer<Member>.allocate(capacity: capacity * 2)
        moved.moveInitialize(from: members, count: count)
        members.deallocate()
        members = moved
        capacity *= 2
    }

    // MARK: Large objects

    private static func hash(_ name: UnsafePointer<UInt8>, _ length: Int) -> Int {
        var hasher = Hasher()
        hasher.combine(bytes: UnsafeRawBufferPointer(start: name, count: length))
        return hasher.finalize()
    }

    /// Puts a member into the table in place of an earlier one of the same name, which is returned.
    private mutating func enterTable(_ number: Int, in text: UnsafePointer<UInt8>) -> Int? {
        if table.count < count * 2 {
            table = Array(repeating: -1, count: max(64, table.count * 4))
            for earlier in 0..<number { _ = put(earlier, in: text) }
        }
        return put(number, in: text)
    }

    private mutating func put(_ number: Int, in text: UnsafePointer<UInt8>) -> Int? {
        let member = members[number]
        let slot = slot(text + member.name, member.length, in: text)
        let earlier = table[slot]
        table[slot] = Int32(truncatingIfNeeded: number)
        return earlier < 0 ? nil : Int(earlier)
    }

    private func find(_ name: UnsafePointer<UInt8>, _ length: Int, in text: UnsafePointer<UInt8>) -> Int? {
        let number = table[slot(name, length, in: text)]
        return number < 0 ? nil : Int(number)
    }

    /// The slot of this name, or the free one where it belongs. There is always a free one: half of them are.
    private func slot(_ name: UnsafePointer<UInt8>, _ length: Int, in text: UnsafePointer<UInt8>) -> Int {
        let mask = table.count - 1
        var slot = Self.hash(name, length) & mask
        while table[slot] >= 0 {
            let member = members[Int(table[slot])]
            if member.length == length && equalBytes(text + member.name, name, length) { break }
            slot = (slot + 1) & mask
        }
        return slot
    }
}
