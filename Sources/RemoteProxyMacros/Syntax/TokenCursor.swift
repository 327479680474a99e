// The tokens of a source, and a place among them that moves forward. All syntax is read from a cursor.

/// A word, literal or sign of Swift source, with its place.
struct SwiftToken {
    enum Kind {
        /// A name or a keyword. Only its place tells them apart.
        case word
        /// A name in back-ticks.
        case escapedWord
        case number
        case string
        /// One sign; only `->` and `...` are longer than one character.
        case sign
        /// `#if` and the like.
        case directive
        /// Anything that is not a Swift token: an unclosed string, a control character.
        case unknown
        case end
    }

    var kind: Kind
    /// As the source spells it, back-ticks included.
    var text: String
    /// The bytes of the token.
    var range: Range<Int>
    /// Whether it is the first on its line.
    var startsLine: Bool
    /// The documentation comments before it, line by line without indentation.
    var documentation: [String]

    var isName: Bool { kind == .word || kind == .escapedWord }

    /// The name without its back-ticks.
    var plainName: String { SwiftName.plain(text) }
}

/// Thrown where the source cannot be read, with the place.
struct ParsingFault: Error {
    var offset: Int
}

/// Tokens, and how many of them have been read.
struct TokenCursor {
    /// Types nested deeper are a fault; the compiler's own limit is not far above.
    private static let deepestNesting = 64

    let bytes: [UInt8]
    let tokens: [SwiftToken]
    private(set) var index = 0
    /// How many types around the current token are being read.
    private var nesting = 0

    init(_ source: String) {
        bytes = Array(source.utf8)
        tokens = SwiftLexer.tokens(of: bytes)
    }

    /// The token to read next; at the end always `.end`.
    var current: SwiftToken { tokens[index] }

    /// The token after it.
    var following: SwiftToken { tokens[min(index + 1, tokens.count - 1)] }

    var isAtEnd: Bool { current.kind == .end }

    /// A fault at the current token.
    var fault: ParsingFault { ParsingFault(offset: offset) }

    /// Whether no blank stands between the current token and the one before.
    var isAdjacent: Bool { index > 0 && tokens[index - 1].range.upperBound == offset }

    func isAt(_ text: String) -> Bool { current.text == text && current.kind != .string }

    /// Where the current token begins.
    var offset: Int { current.range.lowerBound }

    @discardableResult
    mutating func advance() -> SwiftToken {
        let token = current
        if !isAtEnd { index += 1 }
        return token
    }

    /// Reads a token if it is the given one.
    mutating func take(_ text: String) -> Bool {
        guard isAt(text) else { return false }
        advance()
        return true
    }

    mutating func expect(_ text: String) throws(ParsingFault) {
        guard take(text) else { throw fault }
    }

    /// Reads a name or a keyword.
    mutating func name() throws(ParsingFault) -> SwiftToken {
        guard current.isName else { throw fault }
        return advance()
    }

    /// Skips to the given token, or to the end.
    mutating func skip(to text: String) {
        while !isAtEnd, !isAt(text) { advance() }
    }

    /// Skips to the next line, or to the end of the member or protocol on this one.
    mutating func skipRestOfLine() {
        while !isAtEnd, !current.startsLine, !isAt("}"), !isAt("{"), !isAt(";") { advance() }
    }

    /// Skips a bracket, everything inside it, and the bracket that closes it. False when nothing closes it.
    mutating func skipBrackets() -> Bool {
        var depth = 0
        repeat {
            if isAtEnd { return false }
            depth += opensBracket ? 1 : closesBracket ? -1 : 0
            advance()
        } while depth > 0
        return true
    }

    private var opensBracket: Bool { ["(", "[", "{"].contains(current.text) }
    private var closesBracket: Bool { [")", "]", "}"].contains(current.text) }

    /// Reads an expression, up to the comma or the parenthesis that ends it. Generic arguments have commas of their own.
    @discardableResult
    mutating func expression() -> String {
        let start = index
        var depth = 0
        while !isAtEnd, !isAt(")"), depth > 0 || !isAt(",") {
            if isAt("<") { depth += 1 }
            if isAt(">") { depth -= 1 }
            if !opensBracket || !skipBrackets() { advance() }
        }
        return spelling(since: start)
    }

    /// Skips `<` … `>`. An arrow is one token, so its `>` does not count.
    mutating func skipGenerics() throws(ParsingFault) {
        var depth = 0
        repeat {
            if isAt("<") { depth += 1 }
            if isAt(">") { depth -= 1 }
            guard !isAtEnd, !isAt("{") else { throw fault }
            advance()
        } while depth > 0
    }

    /// Reads a type with everything inside it; a fault if there are too many around it.
    mutating func type() throws(ParsingFault) -> TypeSyntax {
        guard nesting < Self.deepestNesting else { throw fault }
        nesting += 1
        defer { nesting -= 1 }
        return try TypeSyntax(from: &self)
    }

    /// The tokens from one place to here as source with even spacing.
    func spelling(since start: Int) -> String {
        var text = ""
        for position in start..<max(start, index) {
            if position > start,
                Self.separates(tokens[position - 1], tokens[position]) || endsAttribute(before: position)
            {
                text += " "
            }
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

    /// Whether an attribute without arguments ends before a parenthesis: with a blank the parenthesis does not belong to it.
    private func endsAttribute(before position: Int) -> Bool {
        position > 1 && tokens[position].text == "(" && tokens[position - 2].text == "@"
            && tokens[position - 1].range.upperBound < tokens[position].range.lowerBound
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
