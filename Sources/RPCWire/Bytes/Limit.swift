// The names of the limits that a peer can reach. Each name is also the name of the option that sets the limit. So the reader of
// an error, a log line or a counter knows which option to change.

@usableFromInline
package enum Limit: String, Sendable, Hashable, CaseIterable {
    // How many connections are accepted, and how soon each must send something.
    case maximumConnections, maximumConnectionsPerAddress
    case firstByteTime, frameTime, idleTime
    // What a peer may send and receive before it has logged in.
    case loginTime, loginInput, loginOutput
    // How much work a peer may ask for.
    case maximumRequestsInFlight, maximumRequestsInAll, maximumBytesInFlight, maximumBytesInAll
    case maximumWait
    case maximumFrameSize, maximumHeaderBlock, maximumHeaderLines, maximumBatch, maximumDepth
    case maximumPings, maximumUnknownCancels
    case maximumMetadataEntries, maximumMetadataBytes
    case maximumReferences, maximumReferencesInMessage
    // When a peer does not read, or does not react.
    case pauseReading, patience, keepaliveTimeout, halfCloseGrace
    // How many threads the work for peers may block.
    case maximumBlockedThreads
    // How much is kept for peers that may come back.
    case maximumSessions, sessionGrace, maximumSessionGrace, maximumKeptReplies, maximumKeptReplyBytes
    // How long this end waits for its peers when it stops.
    case stopGrace
    // How much is logged about all peers.
    case maximumLogLines
}

extension Limit: CustomStringConvertible {
    @usableFromInline package var description: String { rawValue }
}
