// JSON: the reader's two ways through a text agree, and what was decoded survives being written and read again.

import JSONCodec

func fuzzReader(_ bytes: UnsafeRawBufferPointer) {
    var skipping = JSONReader(bytes, maximumDepth: 40)
    var isSkipped = false
    do throws(JSONError) {
        let range = try skipping.skipValue()
        require(range.lowerBound >= 0 && range.upperBound <= bytes.count, "a value outside its text")
        try skipping.finish()
        isSkipped = true
    } catch {
        require((0...bytes.count).contains(error.offset), "a fault outside the text")
    }
    var walking = JSONReader(bytes, maximumDepth: 40)
    var isWalked = false
    do throws(JSONError) {
        try walk(&walking)
        try walking.finish()
        isWalked = true
    } catch {}
    require(isSkipped == isWalked, "skipped \(isSkipped), walked \(isWalked)")
}

private func walk(_ reader: inout JSONReader) throws(JSONError) {
    switch try reader.peek() {
    case .array:
        try reader.enterArray()
        while try reader.nextElement() { try walk(&reader) }
    case .object:
        try reader.enterObject()
        while let key = try reader.nextMember() {
            require(key.matches(try key.string()), "a key that is not itself")
            try walk(&reader)
        }
    case .string: _ = try reader.readString()
    case .number: if try reader.readInt64() == nil { _ = try reader.skipValue() }
    default: _ = try reader.skipValue()
    }
}

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
