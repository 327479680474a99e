// One conversation, recorded message by message at version 0.1.0, before the core was restructured. Since then the greeting has
// gained members, and what has come is acknowledged after a second. Nothing else on the wire has changed.

import RPCSockets
import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Suite struct `The recorded dialogue` {
    /// One line of the record.
    private enum Line: Equatable {
        case said(byClient: Bool, connection: Int, String)
        case advance(milliseconds: Int)
        case cut

        init?(_ text: Substring) {
            if text == "cut" {
                self = .cut
            } else if text.hasPrefix("advance "), let time = Int(text.dropFirst(8)) {
                self = .advance(milliseconds: time)
            } else if let connection = text.first?.wholeNumberValue, text.dropFirst(2).first == " " {
                self = .said(
                    byClient: text.dropFirst().first == ">", connection: connection, String(text.dropFirst(3)))
            } else {
                return nil
            }
        }
    }

    /// One end of a stream as the record plays it.
    private final class Part: ByteReceiver {
        private let frames = Lock(FrameReader(Framing.lengthPrefixed.framer))
        private let hear: @Sendable (String) -> Void

        init(_ hear: @escaping @Sendable (String) -> Void) { self.hear = hear }

        func received(_ bytes: Bytes) {
            frames.withLock { $0.append(bytes) }
            while case .message(let frame) = frames.withLock({ try? $0.next() }) { hear(frame.description) }
        }

        func ended(_ end: ChannelEnd, sentUpTo sent: UInt64) {}
    }

    private static let lines = dialogue.split(separator: "\n").compactMap { Line($0) }
    private static let session = dialogue.firstMatch(of: /"session":"([0-9a-f]{32})"/).map { String($0.1) } ?? ""

    private static func send(_ message: String, over stream: any ByteChannel) {
        Bytes(message).withUnsafeBytes { _ = stream.append($0, framing: .lengthPrefixed) }
        stream.flush()
    }

    @Test func `the recorded client is answered as it was then`() throws {
        let network = SimulatedNetwork()
        defer { network.shutDown() }
        RecordedConversation.serve(network.exports, network.loop)
        let heard = Lock<[String]>([])
        var streams: [Int: any ByteChannel] = [:]
        var session = Self.session
        for line in Self.lines {
            switch line {
            case .advance(let milliseconds): network.loop.advance(by: .milliseconds(milliseconds))
            case .cut: for stream in streams.values { stream.abort() }
            case .said(byClient: false, _, _): continue
            case .said(byClient: true, let connection, let message):
                if streams[connection] == nil {
                    let stream = try network.rawStream()
                    let part = Part { message in
                        let line = "\(connection)< \(Self.asThen(message))"
                        heard.withLock { $0.append(line) }
                    }
                    stream.open(part)
                    streams[connection] = stream
                }
                let named = message.replacing(Self.session, with: session)
                if let stream = streams[connection] { Self.send(named, over: stream) }
            }
            network.loop.run()
            let welcome = heard.withLock { $0.first }
            if let match = welcome?.firstMatch(of: /"session":"([0-9a-f]{32})"/) { session = String(match.1) }
        }
        let expected = Self.lines.compactMap { line -> String? in
            guard case .said(byClient: false, let connection, let message) = line else { return nil }
            return "\(connection)< \(message.replacing(Self.session, with: session))"
        }
        #expect(heard.withLock { $0 } == expected)
    }

    /// Without what has come to the protocol since, which the recorded ends do not know.
    private static func asThen(_ message: String) -> String {
        message.replacing(#""protocol":4"#, with: #""protocol":2"#).replacing(#","transfers":0"#, with: "")
            .replacing(#","keepaliveInterval":15000"#, with: "")
    }

    @Test func `the recorded server hears what it heard then, and every call ends as it did`() throws {
        let loop = ManualLoop()
        let script = Lock((next: 0, streams: [any ByteChannel](), heard: [String]()))
        // Sends what the server said next, up to what it said after it had heard something else.
        @Sendable func speak() {
            while true {
                let (message, stream) = script.withLock { script -> (String?, (any ByteChannel)?) in
                    guard Self.lines.indices.contains(script.next),
                        case .said(byClient: false, _, let message) = Self.lines[script.next]
                    else { return (nil, nil) }
                    script.next += 1
                    return (message, script.streams.last)
                }
                guard let message, let stream else { return }
                Self.send(message, over: stream)
            }
        }
        let dialer = Dialer(loop: loop) { done in
            loop.submit {
                let (near, far) = MemoryChannel.pair(on: loop)
                let number = script.withLock { script in
                    script.streams.append(far)
                    return script.streams.count
                }
                far.open(
                    Part { message in
                        script.withLock { script in
                            // The hello ends with a blank since then, which belongs to no JSON value.
                            let text = message.hasSuffix("\n") ? message.dropLast() : message[...]
                            script.heard.append("\(number)> \(Self.asThen(String(text)))")
                            script.next += 1
                        }
                        speak()
                    })
                done(.success(near))
            }
            return {}
        }
        let conversation = RecordedConversation(
            loop: loop,
            cut: {
                script.withLock { script in
                    script.next += 1
                    return script.streams
                }.forEach { $0.abort() }
            },
            advancing: { _ in
                script.withLock { $0.next += 1 }
                speak()
            })
        let results = try conversation.hold(RPCClient(dialer, RecordedConversation.configuration, chance: { 1 }))
        let expected = Self.lines.compactMap { line -> String? in
            guard case .said(byClient: true, let connection, let message) = line else { return nil }
            return "\(connection)> \(message)"
        }
        #expect(script.withLock { $0.heard } == expected)
        #expect(results == endings.split(separator: "\n").map(String.init))
        loop.advance(by: .seconds(5))
    }
}

/// `1>` was said by the client over the first connection, `1<` by the server; times are in milliseconds.
private let dialogue = #"""
    1> {"jsonrpc":"2.0","method":"rpc.hello","params":{"protocol":2,"timeout":30000,"maximumFrameSize":16777216,"maximumRequestsInFlight":1024,"maximumBytesInFlight":16777216},"id":0}
    1< {"jsonrpc":"2.0","id":0,"result":{"protocol":2,"session":"1e9fcb7701528eaa7e5c823db7b42fe0","maximumFrameSize":16777216,"maximumRequestsInFlight":1024,"maximumBytesInFlight":16777216,"grace":60000}}
    1> {"jsonrpc":"2.0","method":"Probe.echo","params":[1],"id":1}
    1< {"jsonrpc":"2.0","id":1,"result":1}
    1> {"jsonrpc":"2.0","method":"Probe.note","params":[2],"number":2}
    1> {"jsonrpc":"2.0","method":"Probe.note","params":[3],"number":3}
    1> {"jsonrpc":"2.0","method":"Probe[other one].echo","params":[-4],"id":4}
    1< {"jsonrpc":"2.0","id":4,"result":-4}
    1> {"jsonrpc":"2.0","method":"Probe.fail","params":[5],"id":5}
    1< {"jsonrpc":"2.0","id":5,"error":{"code":1,"message":"ProbeFailure.asAsked(5)","data":{"type":"ProbeFailure","error":{"asAsked":{"_0":5}}}}}
    1> {"jsonrpc":"2.0","method":"Interview.ask","params":["Are you well?"],"id":6}
    1< {"jsonrpc":"2.0","method":"Prompter.answer","params":["Are you well?"],"id":1}
    1> {"jsonrpc":"2.0","id":1,"result":"Are you well? Yes."}
    1< {"jsonrpc":"2.0","id":6,"result":"They say: Are you well? Yes."}
    1> {"jsonrpc":"2.0","method":"rpc.supports","params":{"method":"Probe.echo"},"id":7}
    1< {"jsonrpc":"2.0","id":7,"result":true}
    1> {"jsonrpc":"2.0","method":"Probe.wait","params":[6,60000],"id":8}
    1> {"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":8}}
    1< {"jsonrpc":"2.0","id":8,"error":{"code":-32800,"message":"cancelled by the caller"}}
    1> {"jsonrpc":"2.0","method":"Probe.wait","params":[7,60000],"timeout":201,"id":9}
    advance 200
    1> {"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":9}}
    1< {"jsonrpc":"2.0","id":9,"error":{"code":-32800,"message":"cancelled by the caller"}}
    1> {"jsonrpc":"2.0","method":"Probe.wait","params":[8,50],"id":10}
    1> {"jsonrpc":"2.0","method":"Probe.note","params":[9],"number":11}
    cut
    2> {"jsonrpc":"2.0","method":"rpc.hello","params":{"protocol":2,"timeout":30000,"maximumFrameSize":16777216,"maximumRequestsInFlight":1024,"maximumBytesInFlight":16777216,"resume":{"session":"1e9fcb7701528eaa7e5c823db7b42fe0","received":{"requests":1,"replies":7}}},"id":0}
    2< {"jsonrpc":"2.0","id":0,"result":{"protocol":2,"session":"1e9fcb7701528eaa7e5c823db7b42fe0","maximumFrameSize":16777216,"maximumRequestsInFlight":1024,"maximumBytesInFlight":16777216,"grace":60000,"resumed":{"requests":11,"replies":1}}}
    2> {"jsonrpc":"2.0","method":"Probe.note","params":[10],"number":12}
    advance 1000
    2< {"jsonrpc":"2.0","id":10,"result":8}
    2< {"jsonrpc":"2.0","method":"rpc.received","params":{"requests":12,"replies":1}}
    2> {"jsonrpc":"2.0","method":"rpc.received","params":{"requests":1,"replies":8}}
    2> {"jsonrpc":"2.0","method":"Probe.echo","params":[11],"id":13}
    2< {"jsonrpc":"2.0","id":13,"result":11}
    2> {"jsonrpc":"2.0","method":"rpc.goodbye"}
    """#

/// How the client's calls ended.
private let endings = #"""
    1
    -4
    asAsked(5)
    They say: Are you well? Yes.
    true
    0 CancellationError()
    -32052 Probe.wait: no reply came within the time allowed for the call (-32052, unknown)
    8
    11
    """#
