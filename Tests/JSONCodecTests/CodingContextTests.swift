// The context of a message reaches the values in it, at any depth, and only while they are coded.

import Testing

@testable import JSONCodec

/// Stands for what a context of the library refers to.
private final class Session {}

/// Notes which object it was coded with.
private struct Part: Codable {
    nonisolated(unsafe) static var met: [AnyObject?] = []

    init() {}
    init(from decoder: any Decoder) throws { Self.met.append(decoder.contextObject) }
    func encode(to encoder: any Encoder) throws {
        Self.met.append(encoder.contextObject)
        try 1.encode(to: encoder)
    }
}

private struct Whole: Codable {
    var first = Part()
    var others = [["a": Part()], [:]]
}

/// Keeps its decoder.
private final class DecoderKeeper: Decodable {
    let decoder: any Decoder
    init(from decoder: any Decoder) { self.decoder = decoder }
}

@Suite(.serialized) struct `The context of coding` {
    private let session = Session()

    @Test func `reaches every value, however deep`() throws {
        Part.met = []
        let output = JSONOutput()
        try output.encode(Whole(), in: .passUnretained(session))
        _ = try decodeJSON(Whole.self, from: output.bytes, in: .passUnretained(session))
        #expect(Part.met.count == 4 && Part.met.allSatisfy { $0 === session })
    }

    @Test func `is of one message alone`() throws {
        Part.met = []
        let output = JSONOutput()
        try output.encode(Whole(), in: .passUnretained(session))
        Part.met = []
        output.removeAll()
        try output.encode(Whole())
        _ = try decodeJSON(Whole.self, from: output.bytes)
        #expect(Part.met.count == 4 && Part.met.allSatisfy { $0 == nil })
    }

    @Test func `is not there in a decoder that was kept for too long`() throws {
        let output = JSONOutput()
        output.append("[1]")
        let keeper = try decodeJSON(DecoderKeeper.self, from: output.bytes, in: .passUnretained(session))
        #expect(keeper.decoder.contextObject == nil)
    }
}
