// Where a value stands inside the one being coded. A step is noted with every value and turned into a coding key only
// when an error or the user asks for the path.

/// A coding key for what the user has no key type for: an index, `super`, or a name of the text.
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

/// One step of a path, copied without cost.
enum PathStep {
    /// The value is the same one as the frame around it, met again through a single-value container.
    case none
    case index(Int)
    /// A member whose name stands in the text, at a distance from its first byte.
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
