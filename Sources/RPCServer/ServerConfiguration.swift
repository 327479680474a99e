// The times and limits of a server, each with its default and its effect.

import RPCWire
import RemoteProxy

extension RPCServer {
    /// The times and limits of a server. All have defaults; each is an option of `ServerCommand`.
    public struct Configuration: Sendable {
        /// How many threads serve connections. A connection stays on one.
        public var threads = 1
        /// How many connections there may be; more are closed as soon as they come.
        public var maximumConnections = 10_000
        /// How many calls of one connection may run at the same time; more are refused with `.busy`.
        public var maximumRequestsInFlight = 1_024
        /// The most bytes that one message may have, either way.
        public var maximumFrameSize = 16 * 1_024 * 1_024
        /// The most bytes that the headers before one message may have, for peers that frame with headers.
        public var maximumHeaderBlock = 8_192
        /// How many headers there may be before one message.
        public var maximumHeaderLines = 64
        /// How many members a batch may have.
        public var maximumBatch = 1_000
        /// How deep arrays and objects may be nested in a message; more than 1,024 counts as 1,024.
        public var maximumDepth = 512
        /// Bytes waiting for a peer that does not read, above which it is not read from either.
        public var pauseReading = 1_024 * 1_024
        /// Bytes waiting for a peer that does not read, above which it is disconnected.
        public var maximumQueuedOutput = 32 * 1_024 * 1_024
        /// How long a peer may take none of the bytes waiting for it before it is disconnected.
        public var patience: Duration = .seconds(30)
        /// How long the calls of a peer that has closed its sending side may still take.
        public var halfCloseGrace: Duration = .seconds(2)
        /// How long running calls may take to finish when the server stops.
        public var grace: Duration = .seconds(10)
        /// How long a client that has lost its connection may take to come back to what runs and waits for it here.
        public var sessionGrace: Duration = .seconds(60)
        /// How many sessions there may be; beyond that the one that has waited longest for its client is dropped.
        public var maximumSessions = 10_000
        /// How many answers of one session may wait for the client to acknowledge them; above that, calls wait to begin.
        public var maximumKeptReplies = 1_024
        /// The same in bytes. An answer that is ready when there is too much is sent once and not kept.
        public var maximumKeptReplyBytes = 4 * 1_024 * 1_024
        /// Whether addresses may be listened on that other machines can reach.
        public var allowsOtherMachines = false
        /// Told, in a line of text, what no caller gets to hear.
        public var log: @Sendable (String) -> Void = { _ in }

        /// All defaults.
        public init() {}
    }
}

extension RPCServer.Configuration {
    var peerSettings: Peer.Settings {
        var settings = Peer.Settings()
        settings.maximumRequestsInFlight = maximumRequestsInFlight
        settings.frames.maximumFrameSize = maximumFrameSize
        settings.frames.maximumHeaderBlock = maximumHeaderBlock
        settings.frames.maximumHeaderLines = maximumHeaderLines
        settings.maximumBatch = maximumBatch
        settings.maximumDepth = maximumDepth
        settings.halfCloseGrace = halfCloseGrace
        settings.maximumKeptReplies = maximumKeptReplies
        settings.maximumKeptReplyBytes = maximumKeptReplyBytes
        return settings
    }

    var outputLimits: OutputLimits {
        var limits = OutputLimits()
        limits.pauseReading = pauseReading
        limits.maximum = maximumQueuedOutput
        limits.patience = patience
        return limits
    }
}
