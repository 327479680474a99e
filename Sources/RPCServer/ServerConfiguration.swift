// The times and limits of a server, each with its default and its effect.

import RPCSockets
import RPCWire
public import RemoteProxy

extension RPCServer {
    /// The times and limits of a server. All have defaults; each is an option of `ServerCommand`.
    public struct Configuration: Sendable {
        /// How many threads serve connections. A connection stays on one.
        public var threads = 1
        /// How many threads may be kept by objects that block, or compute for long, at a time. One that has been kept for
        /// two to six milliseconds is replaced, so that those who share it are served; beyond that number they wait until the
        /// object returns. Zero replaces none.
        public var maximumBlockedThreads = 64
        /// Whether these threads look out for the next message for at least 50 µs before they sleep, instead of 25, and while
        /// any comes, instead of while that is cheaper than being woken: nobody has to be woken for calls that come so shortly
        /// after each other, and the processor time between them is used up. An idle server uses none, and on one processor
        /// nobody looks out.
        public var adaptiveSpinning = false
        /// The tokens of those who may call. Nil is everybody who can connect; otherwise a peer has to show one of them
        /// before it can call anything, save one on a Unix-domain socket, whose user the system names. A server that runs
        /// takes another list by `RPCServer.reload(tokens:)`.
        public var tokens: TokenList?
        /// How long a peer may take to show its token.
        public var loginTime: Duration = .seconds(5)
        /// How long a peer that has shown a wrong token waits for the answer, after which it is disconnected.
        public var loginDelay: Duration = .seconds(1)
        /// The most bytes that a peer may send before it has shown its token.
        public var loginInput = 16_384
        /// The most bytes of answers that a peer gets before it has shown its token.
        public var loginOutput = 4_096
        /// How many connections there may be; more are closed as soon as they come.
        public var maximumConnections = 10_000
        /// How many connections there may be from one address of another machine, or from one network of IPv6.
        public var maximumConnectionsPerAddress = 256
        /// How long a peer may say nothing after it has connected; zero for ever.
        public var firstByteTime: Duration = .seconds(10)
        /// How long a message may take from its first byte to its last; zero for ever.
        public var frameTime: Duration = .seconds(30)
        /// How many bytes of a message earn it a second more; less than one counts as one.
        public var minimumRate = 16_384
        /// How long a peer may ask nothing before it is told to go; zero for ever. Whoever answers pings may stay: an
        /// idle connection costs little, and its peer wants it.
        public var idleTime: Duration = .zero
        /// How long a peer may be silent before it is asked whether it is there; zero for ever.
        public var keepaliveInterval: Duration = .seconds(15)
        /// How long it may take to answer that before it is disconnected. Peers that are not made with this library are
        /// asked by the system, which answers for a machine and not for a program.
        public var keepaliveTimeout: Duration = .seconds(5)
        /// How many calls of all connections may run at the same time; more are refused with `.busy`, except one of each
        /// connection that has none, if it came with less than 4 KiB of arguments.
        public var maximumRequestsInAll = 8_192
        /// How long calls of several clients may wait for their turn. When all have waited longer for a tenth of a second, new
        /// calls are refused with `.busy`, and the line is held to 5 ms until less comes again. A burst is not refused, nor is
        /// a client that waits only for its own calls, nor one that asks for little beside others. Zero for ever.
        public var maximumWait: Duration = .milliseconds(250)
        /// How many pings of one peer are answered in ten seconds; one that sends more is disconnected.
        public var maximumPings = 100
        /// How many cancellations of calls that there are not are borne from one peer in ten seconds, beside one for each
        /// call that has ended; one that sends more is disconnected.
        public var maximumUnknownCancels = 1_000
        /// How many lines are logged in ten seconds; the rest are counted.
        public var maximumLogLines = 1_000
        /// How many calls of one connection may run at the same time; more are refused with `.busy`.
        public var maximumRequestsInFlight = 1_024
        /// How many bytes of arguments the calls of one connection that run at the same time may have come with. As long as
        /// it is less one more begins, however long it is; then more are refused with `.busy`. What an object makes of its
        /// arguments may be larger, and is its own.
        public var maximumBytesInFlight = 16 * 1_024 * 1_024
        /// The same for all connections together, counted to 4 KiB for each, with the same exception.
        public var maximumBytesInAll = 256 * 1_024 * 1_024
        /// The most bytes that one message may have, either way.
        public var maximumFrameSize = 16 * 1_024 * 1_024
        /// The most bytes that the headers before one message may have, for peers that frame with headers.
        public var maximumHeaderBlock = 8_192
        /// How many headers there may be before one message.
        public var maximumHeaderLines = 64
        /// How many members a batch may have.
        public var maximumBatch = 1_000
        /// How many levels of arrays and objects each argument of a call may have, and the result of a call back to a client.
        /// The message around them, a batch and the list of the arguments do not count. A call with a deeper argument is
        /// answered with `.invalidArguments` and never runs. More than 1,024 counts as 1,024. This library itself sends
        /// at most 512 levels in an argument or a result, and its clients accept results of as many. This setting does not
        /// change that.
        public var maximumDepth = 512
        /// Bytes waiting for a peer that does not read, above which it is not read from either.
        public var pauseReading = 1_024 * 1_024
        /// Bytes waiting for a peer that does not read, above which it is disconnected as soon as there is one message
        /// more for it.
        public var maximumQueuedOutput = 16 * 1_024 * 1_024
        /// How long a peer may take none of the bytes waiting for it before it is disconnected.
        public var patience: Duration = .seconds(30)
        /// How long the calls of a peer that has closed its sending side may still take.
        public var halfCloseGrace: Duration = .seconds(2)
        /// How long running calls may take to finish when the server stops.
        public var grace: Duration = .seconds(10)
        /// How long a client that has lost its connection may take to come back to what runs and waits for it here.
        public var sessionGrace: Duration = .seconds(60)
        /// How many sessions there may be; beyond that the one that has waited longest for its client is dropped, of the same
        /// identity if there is one. When all have their client, a new one ends with its connection.
        public var maximumSessions = 10_000
        /// How many answers of one session may wait for the client to acknowledge them; above that, calls wait to begin.
        public var maximumKeptReplies = 1_024
        /// The same in bytes. An answer that is ready when there is too much is sent once and not kept. What never began is
        /// answered all the same: when twice as much waits, the session ends with its connection.
        public var maximumKeptReplyBytes = 4 * 1_024 * 1_024
        /// The same in bytes for all sessions together. Above that, calls of those that have such answers wait to begin.
        public var maximumKeptReplyBytesInAll = 256 * 1_024 * 1_024
        /// How many objects one session may hold at a time; more are refused with `.busy`. Zero allows none.
        public var maximumHolds = 1_000
        /// What `rpc.discover` calls the program; nil for the name of its executable. `ServerCommand` sets it to that of the
        /// command line.
        public var programName: String?
        /// The version that `rpc.discover` gives for the program; nil says `unspecified`. `ServerCommand` sets it to what
        /// `--version` prints.
        public var programVersion: String?
        /// Whether addresses may be listened on that other machines can reach though there are no tokens.
        public var allowsOtherMachines = false
        /// Told, in a line of text, what no caller gets to hear. The default writes it to standard error.
        public var log: @Sendable (String) -> Void = LogStream.log

        /// All defaults.
        public init() {}
    }
}

extension RPCServer.Configuration {
    var peerSettings: Peer.Settings {
        var settings = Peer.Settings()
        settings.maximumRequestsInFlight = maximumRequestsInFlight
        settings.maximumBytesInFlight = maximumBytesInFlight
        settings.frames.maximumFrameSize = maximumFrameSize
        settings.frames.maximumHeaderBlock = maximumHeaderBlock
        settings.frames.maximumHeaderLines = maximumHeaderLines
        settings.maximumBatch = maximumBatch
        settings.maximumDepth = maximumDepth
        settings.halfCloseGrace = halfCloseGrace
        settings.maximumKeptReplies = maximumKeptReplies
        settings.maximumKeptReplyBytes = maximumKeptReplyBytes
        settings.maximumHolds = maximumHolds
        settings.gate = gateSettings
        return settings
    }

    private var gateSettings: Gate.Settings {
        var settings = Gate.Settings()
        settings.tokens = Lock(tokens)
        settings.loginTime = loginTime
        settings.loginDelay = loginDelay
        settings.loginInput = loginInput
        settings.loginOutput = loginOutput
        settings.firstByteTime = firstByteTime
        settings.frameTime = frameTime
        settings.minimumRate = minimumRate
        settings.idleTime = idleTime
        settings.keepaliveInterval = keepaliveInterval
        settings.keepaliveTimeout = keepaliveTimeout
        settings.maximumPings = maximumPings
        settings.maximumUnknownCancels = maximumUnknownCancels
        return settings
    }

    var outputLimits: OutputLimits {
        var limits = OutputLimits()
        limits.pauseReading = pauseReading
        limits.maximum = maximumQueuedOutput
        limits.patience = patience
        limits.keepaliveInterval = keepaliveInterval
        limits.keepaliveTimeout = keepaliveTimeout
        return limits
    }
}
