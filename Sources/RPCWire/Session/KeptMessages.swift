// What has been sent and may be wanted again: messages in the order of their numbers, kept until the other end says
// that it has them. Pure. `Receipts` is the mirror image.

@usableFromInline
package struct KeptMessages: ~Copyable, Sendable {
    private struct Entry {
        let number: Int64
        /// Counted from the first byte that was ever kept in `bytes`.
        let end: Int
        /// Whether the message lies in memory of its own.
        let isShared: Bool
        /// After it the message is not wanted any more, if it has not been sent by then.
        let deadline: Instant
        /// It is not wanted any more, and has left the count; its bytes go with those before it.
        var isDropped = false
    }

    /// All messages but the large ones, one behind the other: memory is taken once and used again, not once per message.
    private var bytes = SendBuffer(keptCapacity: 64 << 10)
    private var entries: [Entry] = []
    /// The large ones by their numbers. Beside the entries, so that nothing in those is counted.
    private var shared: [Int64: Bytes] = [:]
    /// How many bytes have been released, and how many entries that are still in the list.
    private var firstByte = 0
    private var firstEntry = 0
    /// The number of the last message that was ever kept.
    package private(set) var last: Int64 = 0

    package init() {}

    @usableFromInline package private(set) var count = 0
    package private(set) var byteCount = 0
    /// Of all but the large ones.
    package var byteCountOfSmall: Int { bytes.count }
    @inlinable package var isEmpty: Bool { count == 0 }

    /// Keeps a message, whose number is to be higher than all before.
    package mutating func keep(
        _ message: UnsafeRawBufferPointer, number: Int64, deadline: Instant = .distantFuture
    ) {
        guard number > last else { return }
        bytes.append(message)
        add(Entry(number: number, end: firstByte + bytes.count, isShared: false, deadline: deadline), message.count)
    }

    /// The same without a copy: for a large message that the sender has as well.
    package mutating func keep(shared message: Bytes, number: Int64) {
        guard number > last else { return }
        shared[number] = message
        let end = firstByte + bytes.count
        add(Entry(number: number, end: end, isShared: true, deadline: .distantFuture), message.count)
    }

    @inline(__always)
    private mutating func add(_ entry: Entry, _ length: Int) {
        last = entry.number
        entries.append(entry)
        count += 1
        byteCount += length
    }

    /// As new, with all memory given back. Call this; do not assign a new value in the place of the old one.
    ///
    /// An assignment can leak the old value in release builds, by a bug of the compiler (seen with Swift 6.3.1). A
    /// noncopyable struct has a `deinit`, or has a member with one, and is larger than four words. Its module is another
    /// one, or another file where modules are not compiled as a whole, so that the `deinit` is not inlined. The place is
    /// not checked for exclusive access: it is `@exclusivity(unchecked)`, a local variable, or behind a pointer. Then the
    /// optimizer assigns by the type's value witness `assignWithTake`, which the compiler has made a mere copy of the bytes:
    /// the `deinit` of what stood there never runs.
    package mutating func removeAll() {
        bytes.letGo()
        entries = []
        shared = [:]
        (firstByte, firstEntry, count, byteCount, last) = (0, 0, 0, 0, 0)
    }

    /// The other end has everything up to this number.
    /// - Returns: how many messages left the count.
    @discardableResult
    package mutating func release(through number: Int64) -> Int {
        let before = count
        var end = firstByte
        while firstEntry < entries.count, entries[firstEntry].number <= number {
            let entry = entries[firstEntry]
            end = entry.end
            if entry.isShared, let message = shared.removeValue(forKey: entry.number) {
                byteCount -= message.count
            }
            firstEntry += 1
            if !entry.isDropped { count -= 1 }
        }
        byteCount -= end - firstByte
        bytes.removeFirst(end - firstByte)
        firstByte = end
        closeUp()
        return before - count
    }

    /// Drops the messages that are not to be sent any more, wherever they stand.
    /// - Returns: how many.
    package mutating func drop(where isUnwanted: (_ length: Int, _ deadline: Instant) -> Bool) -> Int {
        let before = count
        var start = firstByte
        for index in entries.indices[firstEntry...] {
            let entry = entries[index]
            let length = shared[entry.number]?.count ?? entry.end - start
            start = entry.end
            guard !entry.isDropped, isUnwanted(length, entry.deadline) else { continue }
            entries[index].isDropped = true
            count -= 1
        }
        if count == 0 { release(through: last) }
        return before - count
    }

    /// The numbers of the messages that are kept, up to this one.
    package func numbers(through number: Int64) -> [Int64] {
        entries[firstEntry...].prefix { $0.number <= number }.filter { !$0.isDropped }.map(\.number)
    }

    /// What is kept, and when each message stops being wanted.
    package var messages: [(number: Int64, message: Bytes, deadline: Instant)] {
        var start = firstByte
        return entries[firstEntry...].compactMap { entry in
            defer { start = entry.end }
            if entry.isDropped { return nil }
            if let message = shared[entry.number] { return (entry.number, message, entry.deadline) }
            let message = UnsafeRawBufferPointer(rebasing: bytes.bytes[start - firstByte..<entry.end - firstByte])
            return (entry.number, Bytes(copying: message), entry.deadline)
        }
    }

    /// Lets go of the entries that were released once they are the greater part, so that each is moved once at most on
    /// average.
    private mutating func closeUp() {
        if firstEntry == entries.count {
            entries.removeAll(keepingCapacity: entries.capacity <= 1_024)
            firstEntry = 0
        } else if firstEntry >= 64, firstEntry * 2 >= entries.count {
            entries.removeFirst(firstEntry)
            firstEntry = 0
        }
    }
}
