// URL as Foundation's coder writes it: a string, the absolute URL. By itself a URL is coded as an object of a relative
// text and a base; that object is written here as well, and translated.

enum URLForm {
    static func encode(_ value: some Encodable, in frame: EncodingFramePointer) throws {
        let output = frame.output
        let start = output.pointee.count
        try frame.pointee.state.encodeNaturally(value, .none, depth: frame.pointee.depth)
        let written = UnsafeRawBufferPointer(start: output.pointee.base + start, count: output.pointee.count &- start)
        let text = try absoluteText(written)
        output.pointee.truncate(to: start)
        output.pointee.append(quoted: text)
    }

    /// The base stands there in its own short form already.
    private static func absoluteText(_ object: UnsafeRawBufferPointer) throws(JSONError) -> String {
        var reader = JSONReader(object)
        var relative = ""
        var base: String?
        try reader.enterObject()
        while let name = try reader.nextMember() {
            if name.matches("relative") {
                relative = try reader.readString()
            } else if name.matches("base"), try reader.peek() == .string {
                base = try reader.readString()
            } else {
                _ = try reader.skipValue()
            }
        }
        guard let base else { return relative }
        return URIReference(relative).resolved(against: URIReference(base)).text
    }
}

extension URLForm {
    static func decode<Value: Decodable>(_ type: Value.Type, in frame: DecodingFramePointer) throws -> Value {
        let text = try frame.read(String.self)
        let natural = OutputMemory()
        natural.buffer.append("{\"relative\":")
        natural.buffer.append(quoted: text)
        natural.buffer.append("}")
        do {
            return try natural.decodeNaturally(type)
        } catch {
            throw DecodingError.dataCorrupted(frame.context("Invalid URL string."))
        }
    }
}
