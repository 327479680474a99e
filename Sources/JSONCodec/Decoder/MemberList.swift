// The members of one object that were met so far: they are found by name here, and a name that comes twice is noticed.

struct Member {
    /// Where the name starts, as a distance from the text's first byte.
    let name: Int
    let length: Int
    /// Where the value is.
    let place: Int
    /// A quick mark of the name, equal for equal names.
    let mark: UInt32
}

/// Lives in a frame and is reused with it.
struct MemberList {
    private var members: UnsafeMutablePointer<Member>
    private(set) var count = 0
    private var capacity = Self.leastCapacity
    private var marksSeen: UInt64 = 0
    /// No two of them are equal, since all are known names and none was expected twice.
    private var areKnown = true
    /// For the names of large objects: the number of the last member of each. Hashed with a seed, since names come from a peer.
    private var numbers: [NameBytes: Int] = [:]

    private static let leastCapacity = 16
    private static let largestWithoutNumbers = 64
    private static let keptCapacity = 1024

    init() { members = .allocate(capacity: capacity) }

    @inline(__always)
    subscript(index: Int) -> Member { members[index] }

    @inline(__always)
    mutating func removeAll() {
        count = 0
        marksSeen = 0
        areKnown = true
        if capacity > Self.largestWithoutNumbers { shrink() }
    }

    @inline(never)
    private mutating func shrink() {
        if !numbers.isEmpty { numbers.removeAll() }
        guard capacity > Self.keptCapacity else { return }
        members.deallocate()
        capacity = Self.leastCapacity
        members = .allocate(capacity: capacity)
    }

    /// Adds a member whose name is the known one that was expected next. False, with nothing added, unless all before it are as
    /// well: the usual case, in which nothing has to be compared.
    @inline(__always)
    mutating func appendKnown(_ member: Member) -> Bool {
        guard areKnown, count < capacity else { return false }
        put(member)
        return true
    }

    /// Names that are known may be equal from here on.
    mutating func forgetThatNamesDiffer() { areKnown = false }

    /// Adds a member and returns whether there is an earlier one of the same name.
    @inline(never)
    mutating func append(_ member: Member, in text: UnsafePointer<UInt8>) -> Bool {
        areKnown = false
        if count == capacity { grow() }
        let number = count
        let mayBeThere = marksSeen & Self.bit(member) != 0
        put(member)
        if number >= Self.largestWithoutNumbers { return enter(number, in: text) }
        guard mayBeThere else { return false }
        return (0..<number).contains { other in
            members[other].mark == member.mark && members[other].length == member.length
                && equalBytes(text + members[other].name, text + member.name, member.length)
        }
    }

    @inline(__always)
    private mutating func put(_ member: Member) {
        (members + count).initialize(to: member)
        count &+= 1
        marksSeen |= Self.bit(member)
    }

    @inline(__always)
    private static func bit(_ member: Member) -> UInt64 { 1 &<< UInt64(member.mark &>> 26) }

    /// The last member of this name.
    @inline(__always)
    func last(named name: UnsafeBufferPointer<UInt8>, in text: UnsafePointer<UInt8>) -> Int? {
        if !numbers.isEmpty { return numbers[NameBytes(bytes: UnsafeRawBufferPointer(name))] }
        let start = name.baseAddress ?? text
        var number = count &- 1
        while number >= 0 {
            let member = members[number]
            if member.length == name.count && equalBytes(text + member.name, start, name.count) { return number }
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

    /// Notes a member's number in place of that of an earlier one of the same name. Whether there is one.
    private mutating func enter(_ number: Int, in text: UnsafePointer<UInt8>) -> Bool {
        func name(_ number: Int) -> NameBytes {
            NameBytes(bytes: UnsafeRawBufferPointer(start: text + members[number].name, count: members[number].length))
        }
        if numbers.isEmpty { for earlier in 0..<number { numbers[name(earlier)] = earlier } }
        return numbers.updateValue(number, forKey: name(number)) != nil
    }
}

/// A name in the text.
private struct NameBytes: Hashable {
    let bytes: UnsafeRawBufferPointer

    func hash(into hasher: inout Hasher) { hasher.combine(bytes: bytes) }
    static func == (left: NameBytes, right: NameBytes) -> Bool { left.bytes.elementsEqual(right.bytes) }
}
