import RPCWire
import TestSupport
import Testing

@Suite(.computesForLong) struct MessageFuzzTests {
    static let seeds = SpecificationTests.examples.map { Array($0.0.utf8) }
    static let alphabet = Array("{}[]\"\\:,0123456789.eE+-truefalsn \n\u{1}éid".utf8) + [0x00, 0x80, 0xC0, 0xFF]

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `a message with any bytes changed is read or refused`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        for _ in 0..<600 {
            var text = Self.seeds.randomElement(using: &random) ?? []
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let at = Int.random(in: 0..<text.count, using: &random)
                switch Int.random(in: 0...3, using: &random) {
                case 0: text[at] = Self.alphabet.randomElement(using: &random) ?? 0
                case 1: text.remove(at: at)
                case 2: text.insert(Self.alphabet.randomElement(using: &random) ?? 0, at: at)
                default: text.removeSubrange(at...)
                }
                if text.isEmpty { text = [0x7B] }
            }
            check(text)
        }
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `any bytes are read or refused`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        for _ in 0..<600 {
            check(
                (0..<Int.random(in: 0...60, using: &random)).map { _ in Self.alphabet.randomElement(using: &random) ?? 0
                })
        }
    }

    /// Whatever came in, what is answered can be read again, and is never answered itself.
    private func check(_ text: [UInt8]) {
        check(MessageReader(maximumDepth: 8, maximumBatch: 8).read(bytes(text)))
    }

    private func check(_ message: Message) {
        switch message {
        case .invalid(let id, let error): checkAnswer(id, error)
        case .unreadable(let request, let error): checkAnswer(request.id ?? .null, error)
        case .refused(let error): checkAnswer(.null, error)
        case .naming(let message, _): check(message)
        case .batch(let messages): messages.forEach(check)
        case .request, .result, .failure, .ignored: break
        }
    }

    private func checkAnswer(_ id: RPCIdentifier, _ error: ErrorObject) {
        let answer = written { MessageWriter.writeFailure(id: id, error: error, in: $0) }
        guard case .failure(let number, let read) = MessageReader().read(Bytes(answer)) else {
            Issue.record("unreadable answer \(answer)")
            return
        }
        let echoed: Int64? = if case .integer(let integer) = id { integer } else { nil }
        #expect(number == echoed && read.code == error.code && read.message == error.message)
    }
}
