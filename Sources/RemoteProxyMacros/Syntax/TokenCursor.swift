// A place in a list of tokens that only moves forward. What both halves of the parser stand on.

/// Tokens and how many of them are read.
struct TokenCursor {
    let bytes: [UInt8]
    let tokens: [SwiftToken]
    private(set) var index = 0

    init(_ source: String) {
        bytes = Array(source.utf8)
        tokens = SwiftLexer.tokens(of: bytes)
    }

    /// The token to read next; `.end` for ever at the end.
    var current: SwiftToken { tokens[index] }

    /// The token after it.
    var following: SwiftToken { tokens[min(index + 1, tokens.count - 1)] }

    var isAtEnd: Bool { current.kind == .end }

    func isAt(_ text: String) -> Bool { current.text == text && current.kind != .string }

    @discardableResult
    mutating func advance() -> SwiftToken {
        let token = current
        if !isAtEnd { index += 1 }
        return token
    }

    /// Goes back to a token that was read before.
    mutating func rewind(to index: Int) {
        self.index = min(index, self.index)
    }

    /// Reads a token if it is the given one.
    mutating func take(_ text: String) -> Bool {
        guard isAt(text) else { return false }
        advance()
        return true
    }

    mutating func expect(_ text: String) throws(ParsingFault) {
        guard take(text) else { throw ParsingFault(offset: current.range.lowerBound) }
    }

    /// Reads a name or a keyword.
    mutating func name() throws(ParsingFault) -> SwiftToken {
        guard current.isName else { throw ParsingFault(offset: current.range.lowerBound) }
        return advance()
    }

    /// Skips a bracket and all up to the one that closes it, whatever is in between. False when nothing closes it.
    mutating func skipBrackets() -> Bool {
        var depth = 0
        repeat {
            switch current.text {
            case "(", "[", "{": depth += 1
            case ")", "]", "}": depth -= 1
            default: if isAtEnd { return false }
            }
            advance()
        } while depth > 0
        return true
    }

    /// The tokens from one place to here as source with even spacing.
    func spelling(since start: Int) -> String {
        var text = ""
        for position in start..<max(start, index) {
            if position > start, Self.separates(tokens[position - 1], tokens[position]) { text += " " }
            text += tokens[position].text
        }
        return text
    }

    /// The source from one place to here, comments and all.
    func source(since start: Int) -> String {
        guard start < index else { return "" }
        return String(
            decoding: bytes[tokens[start].range.lowerBound..<tokens[index - 1].range.upperBound], as: UTF8.self)
    }

    /// The first of the names that stands anywhere without a dot before it, and so is looked up from the inside out.
    func firstUnqualified(of names: Set<String>) -> String? {
        tokens.indices.lazy.filter { $0 == 0 || tokens[$0 - 1].text != "." }.map { tokens[$0].plainName }
            .first(where: names.contains)
    }

    /// The documentation comments before the current token, line by line without indentation. Comments that end the
    /// line of the token before are that token's.
    func documentation() -> [String] {
        DocumentationComments.lines(in: bytes[current.triviaStart..<current.range.lowerBound], isFirst: index == 0)
    }

    private static func separates(_ left: SwiftToken, _ right: SwiftToken) -> Bool {
        let spaced: Set<String> = ["->", "&", "=", "=="]
        if left.kind != .sign, right.kind != .sign { return true }
        if left.text == "," || left.text == ":" || spaced.contains(left.text) || spaced.contains(right.text) {
            return true
        }
        return left.kind == .word && left.text != "_" && right.text == "@" || left.text == ")" && right.isName
    }
}

/// The parser met what it does not understand.
struct ParsingFault: Error {
    var offset: Int
}
