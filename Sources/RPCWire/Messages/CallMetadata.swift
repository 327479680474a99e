// The key and value pairs that travel with a call: as a dictionary for subjects, and as the member of a message.

internal import JSONCodec

/// Why pairs cannot travel with a call.
package enum MetadataFault: Error {
    case overrun(Limit)
    /// What came is no object, or has a value that is not a string.
    case notStrings
    case keyNotASCII
    /// A key begins with `#` or `-`, behind its marks if it has any.
    case keyMarked
}

/// Pairs that travel with a call or a post, and with the calls that its subject makes. They keep to the limits.
package final class CallMetadata: Sendable {
    /// What a key stands for. A message shows its marks in front of the key: `#` if it is secret, then `-` if it goes to the
    /// next end only.
    package struct Value: Sendable, Hashable {
        package var text: String
        /// Whether traces and log records show `…` in its place.
        package var isSecret = false
        /// Whether the calls of the subject do not take it along.
        package var isForNextEnd = false

        package init(_ text: String, isSecret: Bool = false, isForNextEnd: Bool = false) {
            (self.text, self.isSecret, self.isForNextEnd) = (text, isSecret, isForNextEnd)
        }

        fileprivate var marks: String { (isSecret ? "#" : "") + (isForNextEnd ? "-" : "") }
    }

    /// By the keys without marks.
    package let values: [String: Value]
    /// The pairs as JSON text, with marks.
    package let text: String
    private let isPassedOnWhole: Bool
    private let otherPairs: CallMetadata?

    /// The pairs that go further than to the next end; nil when none does.
    package var passedOn: CallMetadata? { isPassedOnWhole ? self : otherPairs }

    /// - Parameter mostBytes: how many bytes all keys, marks and values together may have, in UTF-8.
    package convenience init(_ values: [String: Value], mostEntries: Int, mostBytes: Int) throws(MetadataFault) {
        let pairs = values.map { (key: $0.value.marks + $0.key, value: $0.value.text) }
        try Self.check(pairs, mostEntries: mostEntries, mostBytes: mostBytes)
        guard !values.keys.contains(where: Self.isMarked) else { throw .keyMarked }
        self.init(values)
    }

    /// Reads what a peer has sent.
    /// - Parameter text: one JSON value that has been checked.
    package convenience init(reading text: Bytes, mostEntries: Int, mostBytes: Int) throws(MetadataFault) {
        // A byte takes at most six in JSON. The rest is for quotes, and for blanks.
        guard text.count <= 8 * mostBytes else { throw .overrun(.maximumMetadataBytes) }
        let pairs = text.withUnsafeBytes { text in
            var reader = JSONReader(text)
            return try? Self.pairs(&reader)
        }
        guard let pairs else { throw .notStrings }
        // Before the keys are hashed, which takes long for long ones that are not ASCII.
        try Self.check(pairs, mostEntries: mostEntries, mostBytes: mostBytes)
        var values: [String: Value] = [:]
        for (key, text) in pairs {
            var (key, value) = (key[...], Value(text))
            if key.first == "#" { (key, value.isSecret) = (key.dropFirst(), true) }
            if key.first == "-" { (key, value.isForNextEnd) = (key.dropFirst(), true) }
            guard !Self.isMarked(key) else { throw .keyMarked }
            values[String(key)] = value
        }
        self.init(values)
    }

    /// However many they are, and however long.
    package init(_ values: [String: Value]) {
        self.values = values
        text = Self.text(of: values)
        let others = values.filter { !$0.value.isForNextEnd }
        isPassedOnWhole = others.count == values.count
        otherPairs = isPassedOnWhole || others.isEmpty ? nil : CallMetadata(others)
    }

    private static func isMarked(_ key: some StringProtocol) -> Bool { key.hasPrefix("#") || key.hasPrefix("-") }

    private static func check(
        _ pairs: some Collection<(key: String, value: String)>, mostEntries: Int, mostBytes: Int
    ) throws(MetadataFault) {
        guard pairs.count <= mostEntries else { throw .overrun(.maximumMetadataEntries) }
        let bytes = pairs.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        guard bytes <= mostBytes else { throw .overrun(.maximumMetadataBytes) }
        guard pairs.allSatisfy({ $0.key.utf8.allSatisfy { $0 < 0x80 } }) else { throw .keyNotASCII }
    }

    private static func pairs(_ reader: inout JSONReader) throws(JSONError) -> [(key: String, value: String)] {
        var pairs: [(key: String, value: String)] = []
        try reader.enterObject()
        while let key = try reader.nextMember() { pairs.append((try key.string(), try reader.readString())) }
        return pairs
    }

    private static func text(of values: [String: Value]) -> String {
        let output = JSONOutput()
        output.append(UInt8(ascii: "{"))
        // In one order, so that equal pairs have equal texts.
        for (key, value) in values.sorted(by: { $0.key < $1.key }) {
            if output.count > 1 { output.append(UInt8(ascii: ",")) }
            // A key that looks marked gets both marks in front, with which every reader refuses it.
            output.append(quoted: (isMarked(key) ? "#-" : value.marks) + key)
            output.append(UInt8(ascii: ":"))
            output.append(quoted: value.text)
        }
        output.append(UInt8(ascii: "}"))
        return String(decoding: output.bytes, as: UTF8.self)
    }
}
