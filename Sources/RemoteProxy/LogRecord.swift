// One event for a log: all that the library logs is made here, and every log gets it in this form.

import RPCSockets

/// An event for the log of a server, a client or a cache: above all what no caller learns of.
///
/// As text it is its message, which names the peer and the method where they are known. What follows the message is for programs
/// that search or count.
public struct LogRecord: Sendable {
    /// How much an event matters, from the least to the most. There may be more levels later.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Level: Sendable, Hashable, Comparable {
        /// A message on the wire. Only where messages are traced.
        case debug
        /// Nothing is wrong, and it is rare enough for a line, such as a new list of tokens.
        case notice
        /// A peer is at fault, or a limit was reached. The library has dealt with it.
        case warning
        /// Work has failed or is lost, such as a post that was not delivered or a call whose object threw an error that is not
        /// listed.
        case error
    }

    /// When it happened, as the time since the beginning of 1970 in UTC.
    public var time: Duration
    /// How much it matters.
    public var level: Level
    /// What happened, in one sentence. May have control characters that a peer has chosen; the default log escapes them.
    public var message: String
    /// The address of the other end, as ``Caller/address``; nil when the event concerns no connection or all.
    public var peer: String?
    /// The first eight characters of the name of the session. The whole name is secret: with it, a reader of the log could take
    /// the session over.
    public var session: String?
    /// The method that was called, such as `Greeter.greet`.
    public var method: String?
    /// The number that the caller of a failed call was given, so that the two can be brought together.
    public var failureID: String?

    /// A record of the present moment.
    public init(
        _ level: Level, _ message: String, peer: String? = nil, session: String? = nil, method: String? = nil,
        failureID: String? = nil
    ) {
        time = .nanoseconds(WallClock.now)
        self.level = level
        self.message = message
        self.peer = peer
        self.session = session
        self.method = method
        self.failureID = failureID
    }
}

extension LogRecord: CustomStringConvertible {
    /// The message.
    public var description: String { message }
}

extension LogRecord {
    /// The log that is used if no other has been set: a line on standard error.
    package static let standardError: @Sendable (LogRecord) -> Void = { LogStream.log($0.description) }
}
