// The names of limits in errors, log lines and the list of options, and where their values are.

package import RPCWire

/// The words and the value of one limit, for errors, log lines and options. A new limit needs a member of `Limits` and a row
/// here.
package struct LimitDescription: Sendable {
    /// Where the value is, by the unit in which it is shown and read.
    package enum Value: Sendable {
        case count(any WritableKeyPath<Limits, Int> & Sendable)
        case bytes(any WritableKeyPath<Limits, Int> & Sendable)
        case time(any WritableKeyPath<Limits, Duration> & Sendable)
    }

    package let limit: Limit
    package let value: Value
    /// What the value counts or measures. It follows the value in an error: "more than 5 seconds to show a token".
    package let what: String
    /// Whether zero means no limit; for the list of options.
    package let endsAtZero: Bool

    private init(_ limit: Limit, _ value: Value, _ what: String, endsAtZero: Bool = false) {
        (self.limit, self.value, self.what, self.endsAtZero) = (limit, value, what, endsAtZero)
    }

    package init?(of limit: Limit) {
        guard let row = Self.all.first(where: { $0.limit == limit }) else { return nil }
        self = row
    }

    /// The limits that are options, or whose errors have no text of their own.
    package static let all: [LimitDescription] = [
        .init(.maximumConnections, .count(\.maximumConnections), "connections at a time"),
        .init(
            .maximumConnectionsPerAddress, .count(\.maximumConnectionsPerAddress),
            "connections from one address of another machine"),
        .init(.maximumRequestsInFlight, .count(\.maximumRequestsInFlight), "calls of one connection at a time"),
        .init(.maximumRequestsInAll, .count(\.maximumRequestsInAll), "calls of all connections at a time"),
        .init(
            .maximumBytesInFlight, .bytes(\.maximumBytesInFlight), "of arguments of one connection's calls at a time"),
        .init(.maximumBytesInAll, .bytes(\.maximumBytesInAll), "kept for all peers at a time"),
        .init(.maximumWait, .time(\.maximumWait), "of waiting before each call", endsAtZero: true),
        .init(.maximumFrameSize, .bytes(\.maximumFrameSize), "in one message, either way"),
        .init(.loginTime, .time(\.loginTime), "to show a token"),
        .init(.loginInput, .bytes(\.loginInput), "sent without a token"),
        .init(.loginOutput, .bytes(\.loginOutput), "of answers without a token"),
        .init(.maximumPings, .count(\.maximumPings), "pings in ten seconds"),
        .init(.maximumUnknownCancels, .count(\.maximumUnknownCancels), "cancellations of no call in ten seconds"),
        .init(.maximumMetadataEntries, .count(\.maximumMetadataEntries), "keys in the metadata of a call"),
        .init(.maximumMetadataBytes, .bytes(\.maximumMetadataBytes), "of keys and values in the metadata of a call"),
        .init(.maximumReferences, .count(\.maximumReferences), "objects of one session by reference"),
        .init(.firstByteTime, .time(\.firstByteTime), "until the first byte of a connection", endsAtZero: true),
        .init(.frameTime, .time(\.frameTime), "from first to last byte of a message", endsAtZero: true),
        .init(.idleTime, .time(\.idleTime), "without a request", endsAtZero: true),
        .init(.keepaliveTimeout, .time(\.keepalive.timeout), "to answer a ping"),
        .init(.sessionGrace, .time(\.everySessionGrace), "for a client to come back to its session"),
        .init(.stopGrace, .time(\.stopGrace), "for running calls when the server stops"),
    ]
}

extension Limits {
    /// How long a session is kept, also for a client that asks for longer: what the option `--session-grace` sets.
    fileprivate var everySessionGrace: Duration {
        get { sessionGrace }
        set { (sessionGrace, maximumSessionGrace) = (newValue, newValue) }
    }

    /// The text for a peer that has overrun a limit: "more than 100 pings in ten seconds (maximumPings)".
    package func overrun(of limit: Limit) -> String {
        guard let row = LimitDescription(of: limit) else { return "over a limit (\(limit))" }
        let most =
            switch row.value {
            case .count(let member): "\(self[keyPath: member])"
            case .bytes(let member): "\(self[keyPath: member]) bytes"
            case .time(let member): "\(self[keyPath: member])"
            }
        return "more than \(most) \(row.what) (\(limit))"
    }

    /// What is wrong with the metadata of a call, for the end of a sentence.
    func explanation(of fault: MetadataFault) -> String {
        switch fault {
        case .overrun(let limit): overrun(of: limit)
        case .notStrings: "the metadata is something else than an object whose values are strings"
        case .keyNotASCII: "a key of the metadata is not ASCII"
        case .keyMarked: "a key of the metadata begins with # or - (as marks in front of a key they stand as #-)"
        }
    }
}
