import RPCWire
import TestSupport
import Testing

@Suite(.computesForLong) struct FramingFuzzTests {
    static let alphabet = Array("{}[]\"\\:,0123456789CcContent-Length: 2\r\n\r\n\n\n {}\0\0\0\u{1}GHTTP/".utf8)
    static let limits = FrameLimits(maximumFrameSize: 64, maximumHeaderBlock: 80, maximumHeaderLines: 3)

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `any bytes end in frames or in an error, the same however they are cut`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        for _ in 0..<300 {
            var stream =
                Bool.random(using: &random)
                ? framed(["{}", "[1,2]"], allFramings.randomElement(using: &random) ?? .lines) : []
            for _ in 0..<Int.random(in: 0...120, using: &random) {
                let byte = Self.alphabet.randomElement(using: &random) ?? 0
                stream.insert(byte, at: Int.random(in: 0...stream.count, using: &random))
            }
            let framing = (allFramings + [nil, nil, nil]).randomElement(using: &random) ?? nil
            let whole = cut([stream], limits: Self.limits, framing: framing)
            for size in 1...7 {
                let pieces = cut(stream.pieces(of: size), limits: Self.limits, framing: framing)
                #expect(pieces.frames == whole.frames)
                #expect((pieces.error == nil) == (whole.error == nil))
            }
        }
    }
}
