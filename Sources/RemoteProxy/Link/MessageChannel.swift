// What a link needs of the connection that serves it: whole messages in both directions, in order. `FramedChannel` has them in the
// frames of a channel of bytes.

import JSONCodec
package import RPCWire

/// One connection, as its link and its requester see it. It ends once, and for good.
///
/// It calls its link on the loop: `received` for each message, `hasRead` when it stops reading for now, `outputChanged`,
/// `peerFinished`, and `ended` as the last.
package protocol MessageChannel: AnyObject, Sendable {
    /// The loop of its link.
    var loop: any Loop { get }

    /// The address of the other end, for logs and for `Caller`.
    var remoteAddress: String { get }

    // MARK: from any thread

    /// Puts one message into the outgoing queue, and calls no other code, so that a caller may hold its own lock. Queues nothing
    /// when the channel has ended.
    /// - Returns: where the message begins. `Link.ended` tells from where on nothing was sent.
    @discardableResult
    func append(_ message: OutgoingMessage) -> UInt64

    /// Sends the queued messages: on the loop at the end of the turn, elsewhere soon.
    func flush(_ hint: FlushHint)

    /// How many queued bytes the other end has not taken yet.
    var waiting: Int { get }

    /// Whether so much is queued that messages which can wait elsewhere should. `Link.outputChanged` tells when it is over.
    var isCrowded: Bool { get }

    /// Sends the queued messages, then ends the channel.
    func close()

    /// Ends the channel now.
    func abort()

    // MARK: on the loop

    /// The link that gets the messages of the other end. Any thread may read it, since it changes only while a client greets.
    var link: Link { get set }

    /// Whether the other end may call, and as whom. The link shows it the tokens.
    var login: Login { get set }

    /// Begins to hand messages to the link. Called once. Before it returns it calls the link with nothing but `ended`.
    func open()

    /// Goes on reading after `Link.wantsMore` was false.
    func readOn()

    /// Hands no more messages to the link. What is queued still leaves.
    /// - Parameter why: the reason that the link is told at the end, if this end then ends the channel.
    /// - Returns: false when reading had stopped for good before.
    @discardableResult
    func stopReading(because why: String) -> Bool

    /// Whether reading has stopped for good.
    var isOver: Bool { get }

    /// Whether the other end may do this once more. If not, the channel has refused it and ends.
    func admits(_ act: PeerAct) -> Bool

    /// Asks whether the other end is there, if it has been silent for longer than a ping allows.
    /// - Returns: whether the answer is awaited. `Link.pingIsAnswered` follows, or the end.
    func probe() -> Bool

    /// Gives the connection to a new channel for a link that may live on another loop. This channel hands nothing on any more, and
    /// does not tell its end.
    /// - Returns: a channel to be opened there; nil if this one cannot be moved now.
    func moved(to link: Link) -> (any MessageChannel)?
}

/// What the other end of a connection has done, as far as its connection watches it.
package enum PeerAct: Sendable {
    /// It has shown that it answers pings.
    /// - Parameter pingInterval: how long it wants to be silent before it is pinged, zero for ever; nil if it has not said.
    case greeted(pingInterval: Duration?)
    case pinged
    /// A request of it has begun.
    case asked
    /// It is about to get an answer of this length.
    /// - Parameter hasRun: whether the answer is the outcome of a call that has begun. A cancellation may have crossed it.
    case isAnswered(bytes: Int, hasRun: Bool)
    /// It has cancelled a call that does not run.
    case cancelledNothing
}

/// What the owner of a channel is told, on the loop.
package enum ChannelEvent: Sendable {
    /// Calls may go over the channel.
    /// - Parameter isResumed: whether the session of an earlier channel goes on.
    case ready(isResumed: Bool)
    /// The other end does not let this one in, or is no server of this kind. The next attempt to connect would end in the
    /// same way. `ended` follows.
    case rejected(RPCError.Code, why: String)
    /// The other end has answered a ping.
    case answered
    /// Another channel has the connection from now on, and tells the same owner.
    case replaced(by: any MessageChannel)
    /// The other end takes no new calls; answers to earlier calls will still come.
    /// - Parameter wasOfUse: whether a call was answered over the channel.
    case retired(why: String, wasOfUse: Bool)
    /// The channel has ended. Told once and last, but not after `replaced`.
    case ended(why: String, wasOfUse: Bool)
}

extension MessageChannel {
    func flush() { flush(.more) }

    /// Appends a message that the closure writes.
    func append(_ write: (JSONOutput) -> Void) {
        let output = JSONOutput()
        write(output)
        append(.copied(output.bytes))
    }

    /// Takes no new calls; running ones go on. The connection ends when the last call has been answered. A peer that runs this
    /// library is told, and closes its end when it has all its answers: so a call on its way here is refused and not lost. For
    /// any other peer this end closes.
    package func drain() { loop.submit { [self] in link.drain() } }

    /// Ends the connection if the new list of tokens does not let its caller in.
    package func judgeAgain() { loop.submit { [self] in link.endIfRevoked() } }

    /// Tells the other end that this one will not come back, and ends the channel without waiting for a peer that does not read.
    package func cutOff() {
        link.requester.sayGoodbye(over: self)
        abort()
    }
}
