// Lists the members of one object that were met so far: finds them by name, and notices duplicate names.

struct Member {
    /// Where the name starts: its distance from the text's first byte.
    let name: Int
    let length: Int
    /// Where the value starts.
    let place: Int
    /// A quick mark of the name, equal for equal names.
    let mark: UInt32
}

/// Belongs to a frame and is reused with it.
struct MemberList {
    private var members: UnsafeMutablePointer<Member>
    private(set) var count = 0
    private var capacity = Self.leastCapacity
    private var marksSeen: UInt64 = 0
    /// Whether all names are known ones and none was expected twice. Then no two of them are equal.
    private var areKnown = true
    /// For large objects: the number of the last member of each name. Hashed with a seed, since the names come from a peer.
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

    /// Adds a member whose name is the known name that was expected next. Returns false, with nothing added, unless all members
    /// before it were too. In this usual case no names need comparing.
    @inline(__always)
    mutating func appendKnown(_ member: Member) -> Bool {
        guard areKnown, count < capacity else { return false }
        put(member)
        return true
    }

    /// Notes that known names may be equal from now on.
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

    /// Notes a member's number under its name, in place of an earlier one. Returns whether there was an earlier one.
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
