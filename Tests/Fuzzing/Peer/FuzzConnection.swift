// A real server, and a real client, on a manual loop, with the input at the other end: hellos and welcomes good and bad,
// claims to sessions, calls, answers, receipts and notices in any order. What the input says may be anything; what must
// hold is that nothing runs twice, that each call ends once and with an answer that was given to it, and that no table
// grows beyond what was asked.

import RPCSockets
import RPCWire
import Synchronization
import TestSupport

@testable import RemoteProxy

@Service
protocol Doubler: Sendable {
    func twice(_ number: Int) async throws -> Int
    func note(_ number: Int)
}

/// How many bytes of chance this input has had.
private let chances = Atomic<UInt64>(0)

/// Stands in for the standard library's function of this name. So sessions have the same names in every run: libFuzzer makes
/// inputs of what it sees compared, and would try others each time.
@_cdecl("swift_stdlib_random")
public func sameChance(_ buffer: UnsafeMutableRawPointer, _ count: Int) {
    for offset in 0..<count {
        let chance = chances.add(1, ordering: .relaxed).newValue
        buffer.storeBytes(of: UInt8(truncatingIfNeeded: chance), toByteOffset: offset, as: UInt8.self)
    }
}

/// Has the same chance in every run from here on.
func beginChances() { chances.store(0, ordering: .relaxed) }

func fuzzConnection(_ bytes: UnsafeRawBufferPointer) {
    beginChances()
    var dice = Dice(bytes)
    if dice.roll(2) == 0 { fuzzServer(&dice) } else { fuzzClient(&dice) }
}

/// Numbers that mean something somewhere.
let telling: [Int64] = [0, 1, 2, 3, 5, 64, 1_000, -1, .max, .min, .max - 1, 1 << 53]

extension Dice {
    mutating func number() -> Int64 { telling[roll(telling.count)] &+ Int64(roll(4)) }

    /// So many bytes of the input as text.
    mutating func text(_ most: Int) -> String {
        let count = roll(most)
        return String(decoding: (0..<count).map { _ in UInt8(truncatingIfNeeded: roll()) }, as: UTF8.self)
    }

    /// `received` of a hello, or of its answer.
    mutating func progress() -> String { #"{"requests":\#(number()),"replies":\#(number())}"# }

    /// A message of the protocol's own that either end may send.
    mutating func notice() -> String {
        let id = roll(2) == 0 ? #","id":\#(number())"# : ""
        let (method, params) =
            switch roll(8) {
            case 0: ("rpc.received", progress())
            case 1: ("rpc.report", "[]")
            case 2: ("rpc.drain", "[]")
            case 3: ("rpc.goodbye", "[]")
            case 4: ("rpc.ping", "[]")
            case 5: ("$/cancelRequest", #"{"id":\#(number())}"#)
            case 6: ("rpc.hello", #"{"resume":{"session":"x","received":\#(progress())}}"#)
            default: ("rpc.\(text(6))", text(12))
            }
        return #"{"jsonrpc":"2.0","method":"\#(method)","params":\#(params)\#(id)}"#
    }
}

/// One end of a connection, which says what the input says, a line each.
final class FuzzedEnd: ByteReceiver {
    private let stream: any ByteChannel
    private let heard = Lock((rest: "", lines: [String]()))

    init(_ stream: any ByteChannel) {
        self.stream = stream
        stream.open(self)
    }

    /// What has come, a message each.
    var lines: [String] { heard.withLock { $0.lines } }

    func say(_ line: String) {
        Bytes(line).withUnsafeBytes { _ = stream.append($0, framing: .lines) }
        stream.flush()
    }

    func cut() { stream.abort() }

    func received(_ bytes: Bytes) {
        let text = bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        heard.withLock { heard in
            heard.rest += text
            while let end = heard.rest.firstIndex(of: "\n") {
                heard.lines.append(String(heard.rest[..<end]))
                heard.rest.removeSubrange(...end)
            }
        }
    }

    func ended(_ end: ChannelEnd, sentUpTo sent: UInt64) {}
}

/// The value behind a member's name, as it stands there.
func member(_ name: String, of line: String) -> String? {
    line.firstRange(of: "\"\(name)\":").map { String(line[$0.upperBound...].prefix { !",}]".contains($0) }) }
}
