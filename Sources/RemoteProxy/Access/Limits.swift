// What a server lets its peers do: how many, how much, how long. Each limit has its default and its effect here. Its name and
// its words for errors, log lines and options are in `LimitTable.swift`.

package import RPCSockets
import RPCWire

/// The limits of a server that a program sets: `RPCServer.Configuration.limits`. There are more, which are constants.
///
/// A peer that runs into a limit is told the limit's name; the log says so, and `RPCServer.counters` counts it. A time of zero
/// means no limit, unless the limit says otherwise.
public struct Limits: Sendable {
    // MARK: how many may come

    /// How many connections there may be. Further ones are closed as soon as they come.
    public var maximumConnections = 10_000
    /// How many connections there may be from one address of another machine, or from one network of IPv6.
    public var maximumConnectionsPerAddress = 256
    /// How many sessions there may be. Beyond that, the session is dropped that has waited longest for its client, one of the
    /// same identity if there is any. When all sessions have their client, a new session ends with its connection.
    package var maximumSessions = 10_000
    /// How many threads may be blocked by objects at a time. A loop whose thread an object keeps for four to eight milliseconds
    /// gets another thread, so that its other connections are served. Beyond this number they wait. Zero replaces none.
    public var maximumBlockedThreads = 64

    // MARK: how much they may ask for

    /// How many calls of one connection may run at the same time. Further ones are refused with `.busy`.
    public var maximumRequestsInFlight = 1_024
    /// How many calls of all connections may run at the same time. Further ones are refused with `.busy`. But a connection that
    /// has none may always begin one whose arguments have less than 4 KiB.
    public var maximumRequestsInAll = 8_192
    /// How many bytes of arguments the running calls of one connection may have come with. While they have fewer, one more call
    /// begins, however long it is; others are refused with `.busy`. What an object makes of its arguments does not count. Proxies
    /// keep as many bytes of posts of one session for later.
    public var maximumBytesInFlight = 16 << 20
    /// How many bytes the server keeps for all its peers together: what has come and waits or runs, whole or not; answers and
    /// posts that peers have not acknowledged or not read; posts and results that proxies and caches keep for them. Exact to a
    /// few kilobytes for each session.
    ///
    /// When all are used up, only sessions with less than 4 KiB may add to them: calls of others are refused with `.busy`, posts
    /// to and from them wait or are dropped, their answers are sent once and not kept, and reading from them pauses. The
    /// sessions for which the server keeps most end with their connections, until an eighth is free. What calls that run came
    /// with does not count for that.
    public var maximumBytesInAll = 256 << 20
    /// How long calls of several clients may wait for their turn. When all have waited longer for a tenth of a second, new
    /// calls are refused with `.busy`. Until fewer calls come, waits are held to 5 ms. Three kinds are not refused: a burst, a
    /// client that waits only for its own calls, and one that asks for little beside others. Zero refuses none.
    public var maximumWait: Duration = .milliseconds(250)
    /// The most bytes that one message may have, either way.
    public var maximumFrameSize = 16 << 20
    /// How many members a batch may have.
    package var maximumBatch = 1_000
    /// How many levels of arrays and objects each argument of a call may have, and its result on the way to a client. The
    /// message around them does not count. A call with a deeper argument never runs and is answered with `.invalidArguments`.
    /// More than 1,024 counts as 1,024. This library sends 512 levels at most.
    package var maximumDepth = 512
    /// How many objects one session may have by reference at a time, in either direction. A hold counts as one. A call that
    /// would give it another one fails with `.busy`. Objects in messages that wait for a connection count when these are sent.
    public var maximumReferences = 10_000

    // MARK: how long they may take

    /// How long a peer may take to show its token.
    package var loginTime: Duration = .seconds(5)
    /// How long a peer may send nothing after it has connected. Zero for ever.
    package var firstByteTime: Duration = .seconds(10)
    /// How long a message may take from its first byte to its last. Each 16 KiB gives it a second more. Zero for ever.
    package var frameTime: Duration = .seconds(30)
    /// How long a peer may send no request before it is told to leave. Zero for ever: a peer that answers pings may stay.
    public var idleTime: Duration = .zero
    /// When a silent peer is pinged, and when it is disconnected. Peers that are not made with this library are pinged by the
    /// system, whose answer comes from their machine and not from their program.
    public var keepalive = Keepalive()
    /// How long a peer may read none of the bytes that wait for it before it is disconnected.
    package var patience: Duration = .seconds(30)
    /// How long the calls of a peer that has closed its sending side may still take. Then they are stopped, and have as long
    /// again to be answered.
    package var halfCloseGrace: Duration = .seconds(2)
    /// How long a client that has lost its connection may take to come back to its session: to its running calls and its
    /// answers. A client may ask for another time. Zero ends the session with its connection.
    public var sessionGrace: Duration = .seconds(60)
    /// The longest time that a client may ask for in place of `sessionGrace`. A client that asks for more gets this. Zero lets no
    /// client have more than `sessionGrace`.
    public var maximumSessionGrace: Duration = .seconds(600)
    /// How long running calls may take to finish when the server stops.
    public var stopGrace: Duration = .seconds(10)

    // MARK: what is kept for them

    /// How many bytes of answers of one session may wait for the client to acknowledge them. Beyond it an answer is sent once
    /// and not kept, and new calls wait. With twice as many, the session ends with its connection.
    package var maximumKeptReplyBytes = 4 << 20
    /// How many lines are logged in ten seconds. The rest are counted.
    package var maximumLogLines = 1_000

    // MARK: constants that only tests change

    /// How many bytes a peer may send, and get as answers, before it has shown its token.
    package var loginInput = 16_384
    package var loginOutput = 4_096
    /// How long a peer that has shown a wrong token waits for the answer. Then it is disconnected.
    package var loginDelay: Duration = .seconds(1)
    /// How many bytes of a message give it a second beyond `frameTime`.
    package var minimumRate = 16_384
    /// How many pings of one peer are answered in ten seconds. A peer that sends more is disconnected.
    package var maximumPings = 100
    /// How many cancellations of no call one peer may send in ten seconds, besides one for each call that has ended. A peer
    /// that sends more is disconnected.
    package var maximumUnknownCancels = 1_000
    /// How many keys the metadata of a call may have, and how many bytes all keys and values together.
    package var maximumMetadataEntries = 16
    package var maximumMetadataBytes = 4_096
    /// How many objects one message may name by reference.
    package var maximumReferencesInMessage = Message.mostNamed
    /// How many bytes, and how many lines, the headers of one message may have.
    package var maximumHeaderBlock = 8_192
    package var maximumHeaderLines = 64
    /// How many bytes may wait in the connection of a peer that does not read. Beyond it posts and calls to the peer wait in its
    /// session, none of its requests begins, and nothing is read from it.
    package var pauseReading = 1 << 20
    /// How many bytes may wait in the connection of a client before no request of its server begins. Far more than at the server:
    /// if both ends waited, two ends that send much would wait until one gives the other up.
    package var pauseBeginning = 64 << 20
    /// How many answers of one session may wait to be acknowledged before calls wait to begin.
    package var maximumKeptReplies = 1_024
    /// How many bytes the messages of this end's pending calls may take, each with a kilobyte for what belongs to it. Beyond it
    /// new calls are refused with `.busy`. A call waits here while the other end runs as many calls of this end as it may.
    package var maximumPendingCallBytes = 256 << 20
    /// How many bytes of posts may wait to be sent or acknowledged. Beyond it new posts are dropped, with a line in the log.
    package var maximumPendingPostBytes = 32 << 20

    /// All defaults.
    public init() {}
}

extension Limits {
    var frames: FrameLimits {
        FrameLimits(
            maximumFrameSize: maximumFrameSize, maximumHeaderBlock: maximumHeaderBlock,
            maximumHeaderLines: maximumHeaderLines)
    }

    /// The limits for the output that waits for a peer of the server.
    package var output: OutputLimits {
        var output = OutputLimits()
        (output.pauseReading, output.patience) = (pauseReading, patience)
        (output.keepaliveInterval, output.keepaliveTimeout) = (keepalive.interval, keepalive.timeout)
        return output
    }
}
