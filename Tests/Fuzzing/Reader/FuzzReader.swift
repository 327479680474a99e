// JSON: the reader's two ways through a text agree, and so do the processor's instructions for long text and plain C.

import CPortableText
import CText
import JSONReading

func fuzzReader(_ bytes: UnsafeRawBufferPointer) {
    compareLongText(bytes)
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

private func compareLongText(_ bytes: UnsafeRawBufferPointer) {
    guard let base = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
    let start = text_scan(at: 0, has_escapes: false, has_others: false)
    let (one, other) = (text_pass(base, bytes.count, start), portable_pass(base, bytes.count, start))
    require(
        one.at == other.at && one.has_escapes == other.has_escapes && one.has_others == other.has_others,
        "passed \(one) and \(other)")
    let valid = text_valid_utf8(base, bytes.count)
    require(valid == portable_valid_utf8(base, bytes.count), "different UTF-8")
    require(String(validating: bytes[..<valid], as: UTF8.self) != nil, "not UTF-8 before \(valid)")
    require(valid == bytes.count || String(validating: bytes, as: UTF8.self) == nil, "UTF-8, but only to \(valid)")
    func written(_ room: Int, _ write: (UnsafeMutablePointer<UInt8>?) -> Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: room) { target, count in count = write(target.baseAddress) }
    }
    require(
        written(one.at) { text_unescape(base, one.at, $0) } == written(one.at) { portable_unescape(base, one.at, $0) },
        "different meanings")
    let room = 6 * bytes.count + Int(TEXT_ROOM)
    var (end, otherEnd) = (0, 0)
    let escaped = written(room) { text_escape(base, bytes.count, &end, $0, room) }
    require(escaped == written(room) { portable_escape(base, bytes.count, &otherEnd, $0, room) }, "different escapes")
    require(end == bytes.count && otherEnd == end, "not written to the end")
    let length = escaped.count
    let back = escaped.withUnsafeBufferPointer { text in
        written(length) { text_unescape(text.baseAddress, length, $0) }
    }
    require(back.elementsEqual(bytes), "read otherwise than written")
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
