// JSON: the reader's two ways through a text agree.

import JSONReading

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
