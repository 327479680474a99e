// Objects by reference, with the input at the other end: what it names, calls, holds and gives back may be anything. What must hold
// is that no table grows beyond its limit, and that nothing is left when all sessions are over.

import RPCSockets
import RPCWire
import TestSupport

@testable import RemoteProxy

private let mostReferences = 12

func fuzzObjects(_ bytes: UnsafeRawBufferPointer) {
    beginChances()
    Reached.areTold
    var dice = Dice(bytes)
    if dice.roll(3) > 0 { fuzzObjectsOfServer(&dice) } else { fuzzObjectsOfClient(&dice) }
}

/// One connection of the input: the number of its next request, so that most are run.
private final class ObjectPeer {
    let end: FuzzedEnd
    private var read = 0
    private var next = 1
    private(set) var session: String?
    private var asked: [String: Reached] = [:]
    /// Requests of the other end that were not answered.
    private(set) var owed: [String] = []

    init(_ end: FuzzedEnd) { self.end = end }

    /// Reads what has come.
    func listen() {
        let lines = end.lines
        for line in lines[min(read, lines.count)...] {
            if let number = member("requests", of: line).flatMap({ Int($0) }), line.contains(#""resumed""#) {
                next = number &+ 1
                Reached.resumed.count()
            }
            session = member("session", of: line) ?? session
            guard let id = member("id", of: line) else { continue }
            if line.contains(#""method""#) {
                owed.append(id)
            } else if line.contains(#""result""#) {
                asked.removeValue(forKey: id)?.count()
            }
        }
        read = lines.count
    }

    /// - Parameter id: instead of the number that is due.
    func ask(_ method: String, _ params: String, _ list: String = "", counting: Reached? = nil, id: Int64?) {
        let number = id ?? Int64(next)
        if id == nil { next &+= 1 }
        if let counting { asked["\(number)"] = counting }
        end.say(#"{"jsonrpc":"2.0","method":"\#(method)","params":\#(params),"id":\#(number)\#(list)}"#)
    }

    func post(_ method: String, _ params: String, _ list: String = "", number: Int64?) {
        let due = number ?? Int64(next)
        if number == nil { next &+= 1 }
        end.say(#"{"jsonrpc":"2.0","method":"\#(method)","params":\#(params),"number":\#(due)\#(list)}"#)
    }

    /// Answers the request that waits longest, with a number or with objects.
    func answer(_ dice: inout Dice) {
        guard !owed.isEmpty else { return }
        let id = owed.removeFirst()
        let (tokens, list) = dice.tokens()
        let result = dice.roll(2) == 0 ? "7" : tokens
        end.say(#"{"jsonrpc":"2.0","id":\#(id),"result":\#(result)\#(list)}"#)
    }
}

// MARK: the listening end

private func fuzzObjectsOfServer(_ dice: inout Dice) {
    var settings = LinkSettings()
    settings.limits.maximumKeptReplies = 4
    settings.limits.maximumKeptReplyBytes = 600
    settings.limits.maximumRequestsInFlight = 8
    settings.limits.maximumReferences = mostReferences
    settings.limits.maximumReferencesInMessage = 6
    let network = SimulatedNetwork(settings: settings, maximumSessions: 3)
    let cabinet = FuzzedCabinet(network.loop)
    network.exports.add(CabinetProxy(cabinet), named: nil)
    var peers: [ObjectPeer] = []
    var said = 0
    while !dice.isEmpty, said < 80 {
        said += 1
        if peers.isEmpty || dice.roll(12) == 0, peers.count < 6, let stream = try? network.rawStream() {
            let peer = ObjectPeer(FuzzedEnd(stream))
            if dice.roll(8) > 0 { peer.end.say(hello(&dice, peers)) }
            peers.append(peer)
            network.loop.run()
        }
        guard !peers.isEmpty else { break }
        let peer = peers[peers.count - 1 - dice.roll(4) / 3 * dice.roll(peers.count)]
        peer.listen()
        say(&dice, to: peer, of: network.loop)
        network.loop.run()
        for session in cabinet.sessions {
            require(session.takenCount <= mostReferences, "took \(session.takenCount) objects")
            require(session.givenCount <= 2 * mostReferences, "gave \(session.givenCount) objects")
        }
        require(network.sessions.count <= 3, "\(network.sessions.count) sessions")
    }
    for peer in peers { peer.listen() }
    Reached.released.count(cabinet.count.gone)
    network.shutDown()
    network.loop.advance(by: .seconds(120))
    require(network.sessions.count == 0, "a session outlives its server")
    cabinet.letGo()
    network.loop.advance(by: .seconds(1))
    for session in cabinet.sessions {
        require(session.isOver, "the objects of a session outlive it")
        require(session.givenCount == 0 && session.takenCount == 0, "objects are left in a table")
        require(session.takeReleased(.max).isEmpty, "objects are still to be given back")
    }
    require(cabinet.count.alive == 0, "\(cabinet.count.alive) objects are left")
}

private func say(_ dice: inout Dice, to peer: ObjectPeer, of loop: ManualLoop) {
    let id = dice.roll(24) == 0 ? dice.number() : nil
    let (tokens, list) = dice.tokens()
    switch dice.roll(20) {
    case 0, 1, 2: peer.ask("Cabinet.make", "[\(1 + dice.roll(3))]", id: id)
    case 3: peer.ask("Cabinet.makeLocked", "[]", id: id)
    case 4: peer.ask("Cabinet.echo", "[\(tokens)]", list, id: id)
    case 5: peer.ask("Cabinet.keep", "[\(tokens)]", list, id: id)
    case 6: peer.post("Cabinet.note", "[\(tokens)]", list, number: id)
    case 7: peer.ask(dice.roll(2) == 0 ? "Cabinet.drop" : "Cabinet.fail", "[\(tokens)]", list, id: id)
    case 8: peer.ask("Cabinet.ask", "[\(tokens)]", list, id: id)
    case 9: peer.answer(&dice)
    case 10, 11: peer.post("rpc.release", dice.givenBack(), number: id)
    case 12: peer.ask("Figure[#\(dice.handle())].name", "[]", list, id: id)
    case 13: peer.ask("$/invokeProxy/\(dice.handle())/name", "[]", counting: .invoked, id: id)
    case 14:
        let params = #"{"object":"Figure[#\#(dice.handle())]","lease":\#(dice.roll(64) * 100)}"#
        peer.ask("rpc.hold", params, list, counting: .held, id: id)
    case 15: peer.end.say(dice.foreignRelease())
    case 16:
        let closure = #"{"__jsonrpc_marshaled":1,"handle":\#(dice.handle()),"service":"()"}"#
        peer.ask("Cabinet.watch", "[1,\(closure)]", list, id: id)
    case 17: peer.end.say(dice.roll(4) == 0 ? dice.text(80) : dice.notice())
    case 18: peer.end.cut()
    default: loop.advance(by: .milliseconds(dice.roll(4) * 30 + (dice.roll(6) == 0 ? dice.roll(40) * 1_000 : 0)))
    }
}

private func hello(_ dice: inout Dice, _ peers: [ObjectPeer]) -> String {
    let sessions = peers.compactMap(\.session)
    let version = dice.roll(8) == 0 ? dice.roll(5) : 4
    let received = #"{"requests":\#(dice.roll(4)),"replies":\#(dice.roll(12))}"#
    let resumption =
        sessions.isEmpty || dice.roll(4) == 0
        ? "" : #","resume":{"session":\#(sessions[dice.roll(sessions.count)]),"received":\#(received)}"#
    return #"{"jsonrpc":"2.0","id":0,"method":"rpc.hello","params":{"protocol":\#(version)\#(resumption)}}"#
}

// MARK: the dialling end

private func fuzzObjectsOfClient(_ dice: inout Dice) {
    let server = FuzzedServer()
    var configuration = RPCClient.Configuration()
    configuration.peer = .jsonRPC(.lines)
    configuration.saysHello = dice.roll(4) > 0
    configuration.timeout = .seconds(10)
    configuration.limits.maximumReferences = mostReferences
    let client = RPCClient(server.dialer, configuration, chance: { 1 })
    let (count, loop) = (FigureCount(), server.loop)
    var own: [PlainFigure] = []
    let held = Lock<[any Figure]>([])
    var (peers, steps) = ([ObjectPeer](), 0)
    while !dice.isEmpty, steps < 80 {
        steps += 1
        for end in server.ends[peers.count...] { peers.append(ObjectPeer(end)) }
        let peer = peers.last
        peer?.listen()
        let (tokens, list) = dice.tokens()
        let id = Int64(dice.roll(24) == 0 ? 0 : 1 + dice.roll(4))
        switch dice.roll(16) {
        case 0, 1, 2, 3: act(&dice, on: client, loop, &own, held, count)
        case 4: peer?.end.say(welcomeToObjects(&dice, peers))
        case 5, 6, 7: peer?.answer(&dice)
        case 8: peer?.end.say(#"{"jsonrpc":"2.0","id":\#(id),"result":\#(tokens)\#(list)}"#)
        case 9: peer?.ask("Figure[#\(dice.handle())].name", "[]", list, id: nil)
        case 10: peer?.ask("$/invokeProxy/\(dice.handle())/name", "[]", id: nil)
        case 11: peer?.post("rpc.release", dice.givenBack(), number: nil)
        case 12: peer?.end.say(dice.foreignRelease())
        case 13: if dice.roll(3) == 0 { peer?.end.cut() }
        case 14:
            let old = held.withLock { held in
                defer { held = [] }
                return held
            }
            Reached.droppedByClient.count(old.count)
            own = []
        default: loop.advance(by: .milliseconds(dice.roll(4) * 30 + (dice.roll(6) == 0 ? dice.roll(40) * 1_000 : 0)))
        }
        loop.run()
        if let objects = client.requester.link?.objects {
            require(objects.takenCount <= mostReferences, "took \(objects.takenCount) objects")
            // More than the limit, if calls have waited for a connection. Each is a figure under one handle.
            require(objects.givenCount <= count.alive, "gave \(objects.givenCount) objects of \(count.alive)")
        }
    }
    Reached.releasedByClient.count(count.gone)
    own = []
    server.goAway()
    loop.advance(by: .seconds(60))
    held.withLock { $0 = [] }
    let objects = client.requester.link?.objects
    client.close()
    loop.advance(by: .seconds(60))
    require(client.requester.pendingCalls == 0, "a call is still in the table")
    if let objects {
        require(objects.givenCount == 0 && objects.takenCount == 0, "objects are left in a table")
    }
    require(count.alive == 0, "\(count.alive) objects of the client are left")
}

private func act(
    _ dice: inout Dice, on client: RPCClient, _ loop: ManualLoop, _ own: inout [PlainFigure],
    _ held: Lock<[any Figure]>, _ count: FigureCount
) {
    let cabinet = CabinetProxy(client)
    if dice.roll(2) == 0 { own.append(PlainFigure(dice.roll(9), count, called: .calledAtClient)) }
    let theirs = held.withLock { $0 }
    let sent = dice.roll(3)
    let figures: [any Figure] = own.suffix(sent) + (dice.roll(2) == 0 ? theirs.suffix(1) : [])
    let choice = dice.roll(8)
    loop.submit {
        // On the loop, since a post made elsewhere is sent by another thread, at a time of its own.
        if choice == 0 { return cabinet.note(figures) }
        Task(executorPreference: loop) {
            switch choice {
            case 1, 2, 3:
                let got = try await cabinet.make(2)
                Reached.takenByClient.count(got.count { !($0 is PlainFigure) })
                held.withLock { $0 += got.prefix(8) }
            case 4:
                let got = try await cabinet.echo(figures)
                Reached.sentBackToClient.count(got.count { $0 is PlainFigure })
            case 5: try await cabinet.keep(figures)
            case 6: _ = try await theirs.first?.name()
            default:
                guard let one = theirs.last else { return }
                try await FigureProxy(one).exclusively { _ = try await one.name() }
            }
        }
    }
}

private func welcomeToObjects(_ dice: inout Dice, _ peers: [ObjectPeer]) -> String {
    let sessions = peers.flatMap(\.end.lines).compactMap { member("session", of: $0) }
    let session = sessions.isEmpty || dice.roll(4) == 0 ? "\"session \(dice.roll(3))\"" : sessions[sessions.count - 1]
    let received = #"{"requests":\#(dice.roll(8)),"replies":\#(dice.roll(4))}"#
    let resumed = dice.roll(2) == 0 ? "" : #","resumed":\#(received)"#
    let version = dice.roll(8) == 0 ? dice.roll(4) : 4
    return #"{"jsonrpc":"2.0","id":0,"result":{"protocol":\#(version),"session":\#(session)\#(resumed)}}"#
}
