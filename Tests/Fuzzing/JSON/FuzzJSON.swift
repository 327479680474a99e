// JSON: what was decoded survives being written and read again.

import JSONCodec

/// A type of each kind that a codec treats by itself.
private struct Sample: Codable, Equatable {
    struct Inner: Codable, Equatable {
        var flag: Bool?
        var list: [Int8]?
    }

    enum Choice: Codable, Equatable {
        case plain
        case value(Int32, name: String)
    }

    var small: Int8?
    var large: Int64?
    var natural: UInt64?
    var real: Double?
    var short: Float?
    var text: String?
    var texts: [String]?
    var inner: Inner?
    var inners: [Inner?]?
    var named: [String: Int]?
    var numbered: [Int: String]?
    var choice: Choice?
}

func fuzzDecoder(_ bytes: UnsafeRawBufferPointer) {
    guard let first = bytes.first else { return }
    let text = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
    switch first % 6 {
    case 0: roundTrip(Sample.self, text)
    case 1: roundTrip([String: [Double]].self, text)
    case 2: roundTrip([[Int16?]].self, text)
    case 3: roundTrip(String.self, text)
    case 4: roundTrip(Double.self, text)
    default: roundTrip([Sample].self, text)
    }
}

private func roundTrip<Value: Codable & Equatable>(_ type: Value.Type, _ text: UnsafeRawBufferPointer) {
    guard let value = try? decodeJSON(type, from: text) else { return }
    // The decoder has short ways through what is written plainly; they must not take what the reader refuses.
    var reader = JSONReader(text)
    require((try? reader.skipValue()) != nil && (try? reader.finish()) != nil, "\(value) was read from what is no JSON")
    let output = JSONOutput()
    do { try output.encode(value) } catch { fatalError("\(value) was read and cannot be written: \(error)") }
    guard let again = try? decodeJSON(type, from: output.bytes) else {
        fatalError("\(value) was written as \(String(decoding: output.bytes, as: UTF8.self)), which cannot be read")
    }
    require(again == value, "\(value) came back as \(again)")
}
