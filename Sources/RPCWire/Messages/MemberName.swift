// The names that the members of a message may have, each as the number that its characters make, the first one lowest:
// told apart by one comparison instead of one for each character.

internal import JSONCodec

enum MemberName: UInt64, CaseIterable {
    case jsonrpc = 0x63_7072_6E6F_736A
    case method = 0x646F_6874_656D
    case params = 0x736D_6172_6170
    case id = 0x6469
    case result = 0x746C_7573_6572
    case error = 0x72_6F72_7265
    case timeout = 0x74_756F_656D_6974
    case number = 0x7265_626D_756E

    /// Nil for any other name.
    init?(_ key: JSONKey) {
        if let name = Self(rawValue: key.word) {
            self = name
            return
        }
        // A character takes six bytes at most. A longer name is not looked at, since there may be millions of members.
        guard key.hasEscapes, key.length <= 6 * 8, let text = try? key.string(), text.utf8.count <= 8,
            let name = Self(rawValue: text.utf8.reversed().reduce(0) { $0 << 8 | UInt64($1) }), name.text == text
        else { return nil }
        self = name
    }

    var text: String {
        withUnsafeBytes(of: rawValue.littleEndian) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}
