// Guesses at what lets in: at sessions over real sockets, at tokens in time that a test moves. Each costs its guesser a
// connection, none says anything, and nobody who is in notices.

import Dispatch
import Faults
import Protocols
import RPCServer
import RPCSockets
import RPCWire
import RemoteProxy
import Subjects
import TestSupport
import Testing

extension FaultRuns {
    /// A million in all, in parts that each have their time.
    @Test(arguments: 0..<size(1, full: 5))
    func `nobody goes on with the session of another, and its owner notices nothing`(_ part: Int) async throws {
        let (guesses, thieves, rounds) = (Self.size(600, full: 200_000), 4, 10)
        let folder = try SocketFolder()
        let tokens = try TokenList(parsing: Secrets.list)
        let configuration = { (configuration: inout RPCServer.Configuration) in
            configuration.tokens = tokens
            configuration.threads = 2
            // Far fewer than guesses.
            configuration.limits.maximumSessions = Self.size(100, full: 10_000)
            configuration.limits.sessionGrace = .seconds(600)
            // The owner says little, and would have to answer for itself.
            configuration.limits.keepalive.interval = .zero
        }
        try await withGate(folder.url, configuration) { server, url in
            let owner = try HandwrittenClient(url, token: Secrets.alice)
            let away = try HandwrittenClient(url, token: Secrets.alice).session
            for session in [owner.session, away] { try guess(session, at: url) }
            let began = MonotonicClock.now
            let faults = Lock<[String]>([])
            for round in 1...rounds {
                // On threads of their own.
                DispatchQueue.concurrentPerform(iterations: thieves) { thief in
                    var random = SeededGenerator(seed: UInt64((part * rounds + round) * thieves + thief))
                    for _ in 0..<guesses / thieves / rounds {
                        do { try guess(anySession(&random), at: url) } catch {
                            faults.withLock { $0.append("\(error)") }
                        }
                    }
                }
                #expect(faults.withLock { $0 } == [])
                #expect(try brief(owner.raw.ask(HandwrittenClient.next(id: round))) == "\(round)=\(round)")
            }
            print("\(guesses) sessions guessed in \(began.duration(to: MonotonicClock.now)), none right")
            #expect(server.counters.loginsAccepted == guesses + 4)
            // However many sessions the thieves have begun, the owner's that is away has kept its place.
            #expect(try HandwrittenClient(url, token: Secrets.alice, resuming: away).hasResumed)
        }
    }

    private func anySession(_ random: inout SeededGenerator) -> String {
        (0..<2).map { _ in
            let digits = String(UInt64.random(in: 0 ... .max, using: &random), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }

    /// Bob asks for a session that is not his. Throws unless he is given one of his own.
    private func guess(_ session: String, at url: Endpoint) throws {
        let thief = try RawDescriptor.connected(to: url)
        let resumption = #"{"session":"\#(session)","received":{"requests":0,"replies":0}}"#
        let params = #"{"protocol":1,"token":"\#(Secrets.bob)","resume":\#(resumption)}"#
        _ = thief.send(Array(#"{"jsonrpc":"2.0","id":0,"method":"rpc.hello","params":\#(params)}\#n"#.utf8)[...])
        guard case .bytes(let bytes) = thief.receive(1_024) else { throw WireFault("no welcome") }
        let welcome = String(decoding: bytes, as: UTF8.self)
        guard welcome.contains(#""session":""#), !welcome.contains(#""resumed""#), !welcome.contains(session) else {
            throw WireFault("\(session) was let in: \(welcome)")
        }
    }

    @Test(.computesForLong)
    func `every wrong token is answered late and alike, is counted, and ends its connection`() throws {
        let (guesses, together) = (Self.size(400, full: 20_000), 100)
        var settings = LinkSettings()
        settings.tokens = Lock(try TokenList(parsing: Secrets.list))
        let traffic = Traffic(loops: 1, maximumRequests: 1_000)
        settings.traffic = traffic
        let delay = settings.limits.loginDelay
        let network = SimulatedNetwork(settings: settings)
        network.exports.add(CounterProxy(SharedCounter()), named: nil)
        var answers: Set<String> = []
        for begin in stride(from: 0, to: guesses, by: together) {
            let guessers = try (begin..<begin + together).map { number in
                let guesser = TokenGuesser(try network.rawStream())
                guesser.show(wrongToken(number), inHello: number % 2 == 0)
                return guesser
            }
            network.loop.run()
            #expect(traffic.rareEvents.failedLogins == begin + together)
            network.loop.advance(by: delay - .milliseconds(1))
            #expect(guessers.allSatisfy { $0.heard.isEmpty && !$0.hasEnded })
            network.loop.advance(by: .milliseconds(1))
            #expect(guessers.allSatisfy { $0.hasEnded })
            answers.formUnion(guessers.map(\.heard))
        }
        #expect(answers.count == 1 && answers.first?.contains("-32055") == true, "\(answers)")
        #expect(traffic.rareEvents.failedLogins == guesses && traffic.rareEvents.loggedIn == 0 && traffic.calls == 0)
        network.shutDown()
    }

    /// Right for some characters, for none or for nearly all, and then wrong or at its end.
    private func wrongToken(_ number: Int) -> String {
        let right = Secrets.alice.prefix(number / 2 % Secrets.alice.utf8.count)
        guard number % 3 == 0 else { return String(right) }
        return right + String(repeating: "~", count: Secrets.alice.utf8.count - right.utf8.count)
    }
}

/// One end of a connection that shows a token, asks something, and hears what becomes of it.
private final class TokenGuesser: ByteReceiver {
    private let stream: any ByteChannel
    private let state = Lock((heard: "", hasEnded: false))

    init(_ stream: any ByteChannel) {
        self.stream = stream
        stream.open(self)
    }

    var heard: String { state.withLock { $0.heard } }
    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    func show(_ token: String, inHello: Bool) {
        let method = inHello ? "rpc.hello" : "rpc.authenticate"
        say(#"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":{"protocol":1,"token":"\#(token)"}}"#)
        say(#"{"jsonrpc":"2.0","id":2,"method":"Counter.next"}"#)
        stream.flush()
    }

    private func say(_ line: String) {
        Bytes(line).withUnsafeBytes { _ = stream.append($0, framing: .lines) }
    }

    func received(_ bytes: Bytes) {
        let text = bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        state.withLock { $0.heard += text }
    }

    func ended(_ end: ChannelEnd, sentUpTo sent: UInt64) { state.withLock { $0.hasEnded = true } }
}
