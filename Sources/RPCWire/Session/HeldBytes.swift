// How many bytes the requests of one session hold: what has come with those that run, and the answers of batches that are
// not complete yet. Pure: who begins and who ends in; out, what the tally of all connections is to be told. That is told
// of every few kilobytes and of the end, not of every request, and so knows of each session to so many bytes.

@usableFromInline
package struct HeldBytes: Sendable {
    @usableFromInline package private(set) var count = 0
    /// How many of them are answers of batches that are not complete yet, or never will be.
    private var batched = 0
    /// How many the tally has been told of.
    @usableFromInline var told = 0

    package init() {}

    /// A request begins that came with so many.
    mutating func begin(_ bytes: Int) { count &+= bytes }

    /// It has ended.
    mutating func end(_ bytes: Int) { count &-= bytes }

    /// Answers of batches that are not complete keep so many more, or less.
    package mutating func batchesKeep(_ change: Int) {
        batched &+= change
        count &+= change
    }

    /// No batch will be complete any more.
    package mutating func dropBatches() { batchesKeep(-batched) }

    /// Whether the tally is to be told, of which so many make a difference. Asked whenever a request begins or ends.
    @inlinable
    package var hasNews: Bool { (count &- told).magnitude >= 4_096 || told != 0 && count == 0 }

    /// The tally is told: so many more, or less.
    package mutating func tell() -> Int {
        defer { told = count }
        return count &- told
    }
}
