// The names of the limits that a peer can run into. Each is what the option is called, so that the reader of an error, a
// log line or a counter knows what to turn.

package enum Limit: String, Sendable, Hashable, CaseIterable {
    // How many may come, and how soon they must say what.
    case maximumConnections, maximumConnectionsPerAddress
    case firstByteTime, frameTime, idleTime
    // Before the peer has logged in.
    case loginTime, loginInput, loginOutput
    // How much they may ask for.
    case maximumRequestsInFlight, maximumRequestsInAll, maximumBytesInFlight, maximumBytesInAll
    case maximumWait
    case maximumFrameSize, maximumHeaderBlock, maximumHeaderLines, maximumBatch, maximumDepth
    case maximumPings, maximumUnknownCancels
    // What happens to a peer that does not read.
    case pauseReading, maximumQueuedOutput, patience, keepaliveTimeout, halfCloseGrace
    // What they may keep.
    case maximumBlockedThreads
    // What is kept for them.
    case maximumSessions, sessionGrace, maximumKeptReplies, maximumKeptReplyBytes, maximumKeptReplyBytesInAll,
        maximumHolds
    // How long this end waits for them when it stops.
    case grace
    // How much is written down about all of them.
    case maximumLogLines
}

extension Limit: CustomStringConvertible {
    package var description: String { rawValue }
}
