// Counts what has arrived from the peer in a session, and decides when to tell the peer, so that it need not keep all its
// messages. Pure. `KeptMessages` is its counterpart.
//
// One number is enough, because within a channel requests come in the order of their numbers, and a channel loses only its end. A
// request whose number is not higher has come before and never runs again.

@usableFromInline
package struct Receipts: Sendable {
    /// The highest number of the calls and posts that have come.
    @usableFromInline package private(set) var requests: Int64 = 0
    /// How many answers have come.
    @usableFromInline package private(set) var replies: Int64 = 0
    /// How many transfers have come.
    @usableFromInline package private(set) var transfers: Int64 = 0
    @usableFromInline var unreported = 0
    @usableFromInline var unreportedBytes = 0
    /// Whether posts or transfers are among them, which no answer reports.
    @usableFromInline var hasUnreportedPosts = false

    /// When the peer must be told how much has arrived here.
    @usableFromInline
    package enum Report: Sendable, Hashable {
        case notYet
        /// With the next message that is sent anyway.
        case along
        /// At once, even if there is nothing else to send.
        case atOnce
    }

    /// How much may come before it is reported, in messages and in bytes.
    @inlinable package static var interval: Int { 64 }
    @inlinable package static var byteInterval: Int { 64 << 10 }

    package init() {}

    /// A call or a post has come. False if it has come before. A call is reported by its answer, but a post has none.
    package mutating func request(_ number: Int64, isPost: Bool, bytes: Int) -> Bool {
        guard number > requests else { return false }
        requests = number
        if isPost {
            hasUnreportedPosts = true
            count(bytes)
        }
        return true
    }

    /// A transfer has come. False if it has come before; nil if one before it is missing.
    package mutating func transfer(_ number: Int64, bytes: Int) -> Bool? {
        guard number > transfers else { return false }
        guard number == transfers + 1 else { return nil }
        transfers = number
        hasUnreportedPosts = true
        count(bytes)
        return true
    }

    /// An answer has come.
    package mutating func reply(bytes: Int) {
        replies += 1
        count(bytes)
    }

    /// Whether something has come that the peer has not been told of.
    @inlinable package var hasUnreported: Bool { unreported > 0 }

    /// Asked for each message. Match the result by pattern: `==` on another module's enum goes through a table.
    @inlinable package var report: Report {
        guard unreported >= Self.interval || unreportedBytes >= Self.byteInterval else { return .notYet }
        return hasUnreportedPosts || unreportedBytes >= Self.byteInterval ? .atOnce : .along
    }

    /// The peer has been told.
    package mutating func reported() {
        (unreported, unreportedBytes, hasUnreportedPosts) = (0, 0, false)
    }

    private mutating func count(_ bytes: Int) {
        unreported += 1
        unreportedBytes += bytes
    }
}
