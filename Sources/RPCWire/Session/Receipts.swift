// How far this end has come with what the other end sends in a session, and when to tell it so, so that it need not
// keep everything. Pure. `KeptMessages` is the mirror image.
//
// Within one stream requests come in the order of their numbers, and a stream loses nothing but its end: so one number
// says what has come and what has not, and a request whose number is not higher has come before and never runs again.

@usableFromInline
package struct Receipts: Sendable {
    /// The highest number of a call or post that has come.
    @usableFromInline package private(set) var requests: Int64 = 0
    /// How many answers have come.
    @usableFromInline package private(set) var replies: Int64 = 0
    @usableFromInline var unreported = 0
    @usableFromInline var unreportedBytes = 0
    @usableFromInline var hasUnreportedPosts = false

    /// Whether the other end is to be told now how far this end has come.
    @usableFromInline
    package enum Report: Sendable, Hashable {
        case notYet
        /// With the next message that is sent.
        case along
        /// Even if there is nothing else to send.
        case atOnce
    }

    /// How much may come before it is reported: counted in messages, and in bytes.
    @inlinable package static var interval: Int { 64 }
    @inlinable package static var byteInterval: Int { 64 << 10 }

    package init() {}

    /// A call came, or a post. False when it has come before. An answer reports a call by itself; a post has none.
    package mutating func request(_ number: Int64, isPost: Bool, bytes: Int) -> Bool {
        guard number > requests else { return false }
        requests = number
        if isPost {
            hasUnreportedPosts = true
            note(bytes)
        }
        return true
    }

    /// An answer came.
    package mutating func reply(bytes: Int) {
        replies += 1
        note(bytes)
    }

    /// Asked with every message; comparing the reports of another module goes through a table.
    @inlinable package var report: Report {
        guard unreported >= Self.interval || unreportedBytes >= Self.byteInterval else { return .notYet }
        return hasUnreportedPosts || unreportedBytes >= Self.byteInterval ? .atOnce : .along
    }

    /// The other end has been told.
    package mutating func reported() {
        (unreported, unreportedBytes, hasUnreportedPosts) = (0, 0, false)
    }

    private mutating func note(_ bytes: Int) {
        unreported += 1
        unreportedBytes += bytes
    }
}
