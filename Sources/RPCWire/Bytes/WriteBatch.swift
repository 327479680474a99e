// When a channel writes what one turn of its loop has queued.

/// Splits the messages that one turn of the loop queues into few writes, each of twice as many messages as the last. A single
/// write would leave the peer idle until the end of the turn. With many writes both ends would do little but write and read.
package struct WriteBatch: Sendable {
    /// How many messages are sent in the first write: half of those that usually wait if there are many.
    package static let firstWrite = 32

    /// Whether the channel has asked its loop to be called at the end of the turn.
    @usableFromInline var isOpen = false
    @usableFromInline var messages = 0
    @usableFromInline var nextWrite = 0

    package init() {}

    /// Returns whether this is the first message of the turn: the channel then asks its loop to be called at the end of the turn.
    @inlinable
    package mutating func begin() -> Bool {
        if isOpen { return false }
        (isOpen, messages, nextWrite) = (true, 0, Self.firstWrite)
        return true
    }

    /// Ends the batch: the channel has been called, and writes what is queued.
    @inlinable
    package mutating func end() { isOpen = false }

    /// Counts a message. Returns whether the messages so far must be written now. Counts nothing after the end.
    @inlinable
    package mutating func add() -> Bool {
        guard isOpen else { return false }
        messages += 1
        guard messages >= nextWrite else { return false }
        (messages, nextWrite) = (0, nextWrite * 2)
        return true
    }
}
