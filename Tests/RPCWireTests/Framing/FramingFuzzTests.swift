import RPCWire
import Testing

struct FramingFuzzTests {
    /// Repeats exactly: the seed is part of the test's name in the report.
    struct Random: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            let mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
            return mixed ^ (mixed >> 27)
        }
    }

    static let alphabet = Array("{}[]\"\\:,0123456789CcContent-Length: 2\r\n\r\n\n\n {}\0\0\0\u{1}GHTTP/".utf8)
    static let limits = FrameLimits(maximumFrameSize: 64, maximumHeaderBlock: 80, maximumHeaderLines: 3)

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `any bytes end in frames or in an error, the same however they are cut`(seed: UInt64) {
        var random = Random(state: seed)
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
