// A framing with frames of its own, as WebSocket has: a ping that is answered on the wire, and an end.

import RPCSockets
import TestSupport
import Testing

@testable import RPCWire
@testable import RemoteProxy

/// A frame is a letter, a length of one byte, and its bytes: `m` for a message, `p` for a ping, `c` for the end. What this end
/// writes is numbered: a framer has state for both directions.
private struct LetterFramer: Framer {
    private var written: UInt8 = 0

    mutating func next(in unread: inout UnreadBytes, limits: FrameLimits) throws(FramingError) -> Frame? {
        guard unread.has(2) else { return nil }
        let (letter, length) = (unread.front[0], Int(unread.front[1]))
        guard unread.has(2 + length) else { return nil }
        let bytes = unread.take(length, behind: 2)
        switch letter {
        case UInt8(ascii: "m"): return .message(bytes)
        case UInt8(ascii: "p"): return .reply(Bytes(joining: Bytes("q"), bytes))
        case UInt8(ascii: "c"): return .end(reply: Bytes("d"))
        default: throw .unrecognised(letter)
        }
    }

    mutating func write(_ message: OutgoingMessage, into buffer: inout SendBuffer, isFirst: Bool) {
        written += 1
        buffer.append(UInt8(ascii: "0") + written)
        buffer.append(message.memory)
    }
}

@Suite struct `Frames of the framing's own` {
    private func frame(_ letter: String, _ text: String = "") -> Bytes {
        Bytes(letter + String(UnicodeScalar(UInt8(text.utf8.count))) + text)
    }

    @Test func `are answered in their place among the messages, however they are cut`() throws {
        let stream = [frame("m", "{}"), frame("p", "x"), frame("m", "[]"), frame("c")].map(\.description).joined()
        for size in 1...stream.utf8.count {
            var reader = FrameReader(LetterFramer())
            var found: [String] = []
            for piece in Array(stream.utf8).chunks(of: size) {
                reader.append(Bytes(String(decoding: piece, as: UTF8.self)))
                while let frame = try reader.next() {
                    switch frame {
                    case .message(let bytes): found.append("message \(bytes)")
                    case .reply(let bytes): found.append("reply \(bytes)")
                    case .end(let bytes): found.append("end \(bytes)")
                    }
                }
            }
            #expect(found == ["message {}", "reply qx", "message []", "end d"])
        }
    }

    @Test func `never reach the link, which ends with its connection`() throws {
        let loop = ManualLoop()
        let link = Link(LinkContext(runner: RequestRunner(loop: loop), exports: Exports()))
        let (near, far) = MemoryChannel.pair(on: loop)
        let receiver = TextReceiver()
        let ended = Lock<[String]>([])
        loop.pretend {
            far.open(receiver)
            link.open(FramedChannel(near, for: link, LetterFramer()), number: 1) { _, event in
                ended.withLock { $0.append("\(event)") }
            }
        }
        loop.run()
        let hello = receiver.text.withLock { $0 }
        #expect(hello.hasPrefix(#"1{"jsonrpc":"2.0","method":"rpc.hello""#))
        func say(_ frame: Bytes) {
            far.write(frame.memory)
            far.flush()
            loop.run()
        }
        say(frame("p", "1"))
        say(frame("m", #"{"jsonrpc":"2.0","id":0,"result":{"protocol":3,"session":"s"}}"#))
        say(frame("p", "2"))
        say(frame("c"))
        loop.advance(by: .seconds(1))
        let answers = receiver.text.withLock { String($0.dropFirst(hello.count)) }
        #expect(answers == "q1q2d")
        #expect(ended.withLock { $0.last } == #"ended(why: "closed by memory:right", wasOfUse: false)"#)
    }
}

extension Array {
    fileprivate func chunks(of size: Int) -> [ArraySlice<Element>] {
        stride(from: 0, to: count, by: size).map { self[$0..<Swift.min($0 + size, count)] }
    }
}

private final class TextReceiver: ByteReceiver {
    let text = Lock("")
    func received(_ bytes: Bytes) { text.withLock { $0 += bytes.description } }
    func ended(_ end: ChannelEnd, sentUpTo sent: UInt64) {}
}
