// The key and value pairs that travel with a call: as a dictionary for subjects, and as the member of a message.

internal import JSONCodec

/// Why pairs cannot travel with a call.
package enum MetadataFault: Error {
    case overrun(Limit)
    /// What came is no object, or has a value that is not a string.
    case notStrings
    case keyNotASCII
}

/// Pairs that travel with a call or a post, and with the calls that its subject makes. They keep to the limits.
package final class CallMetadata: Sendable {
    package let entries: [String: String]
    /// The pairs as JSON text.
    package let text: String

    /// - Parameter mostBytes: how many bytes all keys and values together may have, in UTF-8.
    package init(_ entries: [String: String], mostEntries: Int, mostBytes: Int) throws(MetadataFault) {
        try Self.check(entries, mostEntries: mostEntries, mostBytes: mostBytes)
        self.entries = entries
        text = Self.text(of: entries)
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
        let entries = Dictionary(pairs.map { ($0.key, $0.value) }) { $1 }
        try self.init(entries, mostEntries: mostEntries, mostBytes: mostBytes)
    }

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

    private static func text(of entries: [String: String]) -> String {
        let output = JSONOutput()
        output.append(UInt8(ascii: "{"))
        // In one order, so that equal pairs have equal texts.
        for (key, value) in entries.sorted(by: { $0.key < $1.key }) {
            if output.count > 1 { output.append(UInt8(ascii: ",")) }
            output.append(quoted: key)
            output.append(UInt8(ascii: ":"))
            output.append(quoted: value)
        }
        output.append(UInt8(ascii: "}"))
        return String(decoding: output.bytes, as: UTF8.self)
    }
}
