// Parses the spelling of a Swift type, as far as the standard library's own types go. `[T]` and `Array<T>` have one shape,
// `T?` and `Optional<T>` another.

struct SwiftTypeText {
    indirect enum Shape {
        case optional(SwiftTypeText)
        case array(SwiftTypeText)
        case dictionary(SwiftTypeText, SwiftTypeText)
        /// Any other type, without the prefix `Swift.`, `Foundation.` or `FoundationEssentials.`.
        case name(String)
    }

    /// The spelling without blanks.
    let text: String

    init(_ text: some StringProtocol) { self.text = String(text) }

    var shape: Shape {
        let plain =
            ["Swift.", "Foundation.", "FoundationEssentials."].first { text.hasPrefix($0) }
            .map { String(text.dropFirst($0.count)) } ?? text
        if plain.hasSuffix("?") { return .optional(Self(plain.dropLast())) }
        if plain.hasPrefix("["), plain.hasSuffix("]") {
            let inside = Self.split(plain.dropFirst().dropLast(), at: ":")
            return inside.count == 2
                ? .dictionary(Self(inside[0]), Self(inside[1])) : .array(Self(plain.dropFirst().dropLast()))
        }
        guard let open = plain.firstIndex(of: "<"), plain.hasSuffix(">") else { return .name(plain) }
        let arguments = Self.split(plain[plain.index(after: open)...].dropLast(), at: ",").map { Self($0) }
        switch (plain[..<open], arguments.count) {
        case ("Optional", 1): return .optional(arguments[0])
        case ("Array", 1), ("Set", 1), ("ContiguousArray", 1), ("ArraySlice", 1): return .array(arguments[0])
        case ("Dictionary", 2): return .dictionary(arguments[0], arguments[1])
        default: return .name(plain)
        }
    }

    /// The parts between the separators. Separators inside brackets do not count.
    private static func split(_ text: Substring, at separator: Character) -> [Substring] {
        var depth = 0
        return text.split(omittingEmptySubsequences: false) { character in
            switch character {
            case "[", "<", "(": depth += 1
            case "]", ">", ")": depth -= 1
            case separator: return depth == 0
            default: break
            }
            return false
        }
    }
}
