// What has been sent and may be wanted again: messages in the order of their numbers, kept until the other end says
// that it has them. Pure. `Receipts` is the mirror image.

package struct KeptMessages: Sendable {
    private struct Entry {
        let number: Int64
        var end: Int
        /// After it nobody wants the message any more, if it has not been sent by then.
        let deadline: Instant
    }

    /// All messages, one behind the other: memory is taken once and used again, not once per message.
    private var bytes: [UInt8] = []
    private var entries: [Entry] = []
    /// What stands before these has been released.
    private var firstByte = 0
    private var firstEntry = 0
    /// The number of the last message that was ever kept.
    package private(set) var last: Int64 = 0

    package init() {}

    package var count: Int { entries.count - firstEntry }
    package var byteCount: Int { bytes.count - firstByte }
    package var isEmpty: Bool { entries.isEmpty }

    /// Keeps a message, whose number is to be higher than all before.
    package mutating func keep(
        _ message: UnsafeRawBufferPointer, number: Int64, deadline: Instant = .distantFuture
    ) {
        guard number > last else { return }
        last = number
        bytes.append(contentsOf: message)
        entries.append(Entry(number: number, end: bytes.count, deadline: deadline))
    }

    /// The other end has everything up to this number.
    package mutating func release(through number: Int64) {
        while firstEntry < entries.count, entries[firstEntry].number <= number {
            firstByte = entries[firstEntry].end
            firstEntry += 1
        }
        closeUp()
    }

    /// What is kept, and when each message stops being wanted.
    package var messages: [(number: Int64, message: Bytes, deadline: Instant)] {
        var start = firstByte
        return entries[firstEntry...].map { entry in
            defer { start = entry.end }
            let message = bytes[start..<entry.end].withUnsafeBytes { Bytes(copying: $0) }
            return (entry.number, message, entry.deadline)
        }
    }

    /// Lets go of what was released once it is the greater part, so that each byte is moved once at most on average.
    private mutating func closeUp() {
        if firstEntry == entries.count {
            // One big message is not paid for by an idle session for ever.
            let isBig = bytes.capacity > 64 << 10
            bytes.removeAll(keepingCapacity: !isBig)
            entries.removeAll(keepingCapacity: !isBig)
            (firstByte, firstEntry) = (0, 0)
        } else if firstEntry >= 64, firstEntry * 2 >= entries.count {
            bytes.removeFirst(firstByte)
            entries.removeFirst(firstEntry)
            for index in entries.indices { entries[index].end -= firstByte }
            (firstByte, firstEntry) = (0, 0)
        }
    }
}
