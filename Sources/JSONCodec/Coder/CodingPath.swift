// Describes where a value lies inside the one being coded. Each value notes a step. The step becomes a coding key only when an
// error or the user asks for the path.

/// A coding key where the user has no key type: an index, `super`, or a name from the text.
struct JSONPathKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(index: Int) {
        stringValue = "Index \(index)"
        intValue = index
    }

    init(_ name: String) {
        stringValue = name
        intValue = nil
    }

    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { self.init(index: intValue) }

    static let superKey = JSONPathKey("super")
}

/// One step of a path, which is cheap to copy.
enum PathStep {
    /// No step: the value is the one that the frame around it has, coded again through a single-value container.
    case none
    case index(Int)
    /// A member whose name lies in the text, at this distance from its first byte.
    case name(Int, length: Int, any CodingKey.Type)

    /// `isQuoted` says that the name may contain escapes.
    func key(in text: UnsafePointer<UInt8>, isQuoted: Bool) -> (any CodingKey)? {
        switch self {
        case .none: return nil
        case .index(let index): return JSONPathKey(index: index)
        case .name(let start, let length, let type):
            let bytes = UnsafeBufferPointer(start: text + start, count: length)
            var name = String(decoding: bytes, as: UTF8.self)
            if isQuoted {
                let token = JSONText(start: start, end: start + length, hasEscapes: true, isASCII: false)
                name = token.string(in: text)
            }
            return type.init(stringValue: name) ?? JSONPathKey(name)
        }
    }
}
