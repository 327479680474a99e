// Keeps sent messages that may have to be sent again: in the order of their numbers, until the peer says that it has them.
// Pure. `Receipts` is its counterpart.

/// Where a post belongs.
@usableFromInline
package enum PostKind: Sendable, Hashable {
    /// It goes to any session.
    case free
    /// It names an object that only its session knows, and goes to no other.
    case ofSession
    /// The same, and no program has made it: it is not counted, and the log is not told if it is lost.
    case ofProtocol
}

@usableFromInline
package struct KeptMessages: ~Copyable, Sendable {
    @usableFromInline
    struct Entry: Sendable {
        let number: Int64
        /// Where its bytes end, counted from the first byte that was ever kept in `bytes`.
        let end: Int
        /// Whether the message is large and has memory of its own.
        let isShared: Bool
        /// How many of its last bytes are for peers that run this library only.
        let ownBytes: Int32
        let kind: PostKind
        /// When the message is no longer wanted, if it has not been sent by then.
        let deadline: Instant
        /// Whether it is no longer wanted. It has left the count, but its bytes are removed only with those before it.
        var isDropped = false
    }

    /// All messages but the large ones, one after the other. So memory is taken once and used again, not once per message.
    private var bytes = SendBuffer(keptCapacity: 64 << 10)
    private var entries = Queue<Entry>()
    /// The large messages by their numbers. They are not in the entries, so that an entry has no reference to count.
    private var shared: [Int64: Bytes] = [:]
    /// How many bytes have been released.
    private var firstByte = 0
    /// The highest number that was kept.
    package private(set) var last: Int64 = 0

    package init() {}

    /// How many there are, without those of the protocol.
    @usableFromInline package private(set) var count = 0
    /// How many there are.
    @usableFromInline private(set) var countOfAll = 0
    @usableFromInline package private(set) var byteCount = 0
    /// The bytes of all messages but the large ones.
    package var byteCountOfSmall: Int { bytes.count }
    @inlinable package var isEmpty: Bool { countOfAll == 0 }
    /// How much memory there is for small messages, and for how many messages; for tests.
    var room: (bytes: Int, count: Int) { (bytes.room, entries.ring.count) }

    /// Keeps a copy of a message. Ignores it unless its number is higher than all numbers before.
    /// - Parameter ownBytes: how many of its last bytes are for peers that run this library only.
    package mutating func keep(
        _ message: UnsafeRawBufferPointer, number: Int64, deadline: Instant = .distantFuture, ownBytes: Int = 0,
        kind: PostKind = .free
    ) {
        guard number > last else { return }
        bytes.append(message)
        add(
            Entry(
                number: number, end: firstByte + bytes.count, isShared: false, ownBytes: Int32(clamping: ownBytes),
                kind: kind, deadline: deadline), message.count)
    }

    /// The same without a copy, for a large message that the sender holds as well.
    package mutating func keep(shared message: Bytes, number: Int64) {
        guard number > last else { return }
        shared[number] = message
        let end = firstByte + bytes.count
        add(
            Entry(number: number, end: end, isShared: true, ownBytes: 0, kind: .free, deadline: .distantFuture),
            message.count)
    }

    @inline(__always)
    private mutating func add(_ entry: Entry, _ length: Int) {
        last = entry.number
        entries.append(entry)
        if entry.kind != .ofProtocol { count += 1 }
        countOfAll += 1
        byteCount += length
    }

    /// Removes everything and gives all memory back. Call this; do not assign a new value in the place of the old one.
    ///
    /// In release builds such an assignment can leak the old value, by a bug of the compiler (seen with Swift 6.3.1). It
    /// concerns a noncopyable struct that has a `deinit`, or a member with one, and is larger than four words. The struct is
    /// from another module, or from another file if modules are not compiled as a whole, so that the `deinit` is not inlined.
    /// The place is not checked for exclusive access: it is `@exclusivity(unchecked)`, a local variable, or behind a pointer.
    /// Then the optimizer assigns by the type's value witness `assignWithTake`. The compiler has made that a mere copy of the
    /// bytes, so the `deinit` of the old value never runs.
    package mutating func removeAll() {
        bytes.letGo()
        entries.removeAll()
        shared = [:]
        (firstByte, count, countOfAll, byteCount, last) = (0, 0, 0, 0, 0)
    }

    /// Gives all memory back, if no message is kept.
    mutating func releaseRoom() {
        guard entries.isEmpty else { return }
        bytes.letGo()
        entries.letGo(beyond: 0)
        shared = [:]
    }

    /// The peer has all messages up to this number.
    /// - Returns: how many messages have left the count.
    @discardableResult
    package mutating func release(through number: Int64) -> Int {
        let before = count
        var end = firstByte
        // Dropped ones go with those before them: no acknowledgement will name them.
        while !entries.isEmpty, entries[0].number <= number || entries[0].isDropped, let entry = entries.popFirst() {
            end = entry.end
            if entry.isShared, let message = shared.removeValue(forKey: entry.number) {
                byteCount -= message.count
            }
            if !entry.isDropped { leaves(entry) }
        }
        byteCount -= end - firstByte
        bytes.removeFirst(end - firstByte)
        firstByte = end
        entries.letGo(beyond: 1_024)
        return before - count
    }

    /// Drops the messages that need not be sent any more, wherever they are in the order.
    /// - Returns: how many.
    package mutating func drop(
        where isUnwanted: (_ number: Int64, _ length: Int, _ deadline: Instant, _ kind: PostKind) -> Bool
    ) -> Int {
        let before = count
        var start = firstByte
        for index in 0..<entries.count {
            let entry = entries[index]
            let length = shared[entry.number]?.count ?? entry.end - start
            start = entry.end
            guard !entry.isDropped, isUnwanted(entry.number, length, entry.deadline, entry.kind)
            else { continue }
            entries[index].isDropped = true
            leaves(entry)
        }
        if isEmpty { release(through: last) }
        return before - count
    }

    private mutating func leaves(_ entry: Entry) {
        countOfAll -= 1
        if entry.kind != .ofProtocol { count -= 1 }
    }

    /// The numbers of the kept messages, up to this one.
    package func numbers(through number: Int64) -> [Int64] {
        var numbers: [Int64] = []
        for index in 0..<entries.count
        where entries[index].number <= number && !entries[index].isDropped && entries[index].kind != .ofProtocol {
            numbers.append(entries[index].number)
        }
        return numbers
    }

    /// A kept message.
    /// - Parameter ownBytes: how many of its last bytes are for peers that run this library only.
    package typealias Kept = (number: Int64, message: Bytes, ownBytes: Int)

    /// Whether the message of that number is kept.
    package func keeps(_ number: Int64) -> Bool {
        let index = firstIndex(after: number - 1)
        return index < entries.count && entries[index].number == number
    }

    /// All kept messages.
    package var messages: [Kept] {
        var all: [Kept] = []
        while let next = message(after: all.last?.number ?? 0) { all.append(next) }
        return all
    }

    /// The first kept message with a higher number; nil if there is none.
    package func message(after number: Int64) -> Kept? {
        let low = firstIndex(after: number)
        guard low < entries.count else { return nil }
        let entry = entries[low]
        if let message = shared[entry.number] { return (entry.number, message, 0) }
        let start = low > 0 ? entries[low - 1].end : firstByte
        let message = UnsafeRawBufferPointer(rebasing: bytes.bytes[start - firstByte..<entry.end - firstByte])
        return (entry.number, Bytes(copying: message), Int(entry.ownBytes))
    }

    /// Where the first kept message with a higher number is; the count if there is none.
    private func firstIndex(after number: Int64) -> Int {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].number > number { high = middle } else { low = middle + 1 }
        }
        while low < entries.count, entries[low].isDropped { low += 1 }
        return low
    }
}
