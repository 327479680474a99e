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
    /// The caller's key, which stays where it is for as long as the value is being coded.
    case key(UnsafeRawPointer, any CodingKey.Type)

    var key: (any CodingKey)? {
        switch self {
        case .none: nil
        case .index(let index): JSONPathKey(index: index)
        case .key(let place, let type): Self.load(type, from: place)
        }
    }

    private static func load<Key: CodingKey>(_ type: Key.Type, from place: UnsafeRawPointer) -> any CodingKey {
        place.assumingMemoryBound(to: Key.self).pointee
    }
}
