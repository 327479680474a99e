// Answers one message of the compiler with one message. Undeclared members of a request are ignored: a request has more than the
// plugin needs, and each toolchain adds members.

private import JSONCodec

/// Answers the compiler. Every message gets an answer: a compiler that waits for one hangs the user's build.
enum PluginConversation {
    /// The version of the compiler's plugin protocol.
    private static let protocolVersion = 7

    static func answer(to message: [UInt8]) -> [UInt8] {
        guard let request = try? message.withUnsafeBytes({ try decodeJSON(HostMessage.self, from: $0) }) else {
            return encoded(failure("the compiler sent a message that the macro plugin cannot read"))
        }
        if request.getCapability != nil {
            return encoded(["getCapabilityResult": ["capability": ["protocolVersion": protocolVersion]]])
        }
        guard let expansion = request.expandAttachedMacro else {
            return encoded(failure("the compiler asked the macro plugin for something other than an attached macro"))
        }
        guard let expand = Macros.all[expansion.macro.typeName] else {
            return encoded(failure("the macro plugin has no macro '\(expansion.macro.typeName)'"))
        }
        return encoded(["expandMacroResult": expand(expansion)])
    }

    /// The answers hold only strings and small numbers, which JSON can always express.
    private static func encoded(_ answer: some Encodable) -> [UInt8] {
        let output = JSONOutput()
        try? output.encode(answer)
        return Array(output.bytes)
    }

    /// A failed expansion can answer any request. A compiler that expects another kind of answer reports a mismatch.
    private static func failure(_ message: String) -> [String: Expansion] {
        let diagnostic = Expansion.Diagnostic(message: message, position: .init(fileName: "", offset: 0))
        return ["expandMacroResult": Expansion(diagnostics: [diagnostic])]
    }
}

/// A request of the compiler. It has exactly one member, whose name is the kind of request.
struct HostMessage: Decodable {
    var getCapability: Nothing?
    var expandAttachedMacro: ExpansionRequest?

    struct Nothing: Decodable {}
}

/// A request to expand an attached macro.
struct ExpansionRequest: Decodable {
    /// Which macro: the names in `#externalMacro(module:type:)`.
    struct Macro: Decodable {
        var typeName: String
    }

    /// A piece of the user's source as text.
    struct Syntax: Decodable {
        var source: String
        var location: Location?
    }

    /// Where that text begins; `offset` counts bytes from the start of the file.
    struct Location: Codable {
        var fileName: String
        var offset: Int
    }

    var macro: Macro
    /// What the expansion becomes: `peer` or `extension`.
    var macroRole: String?
    var attributeSyntax: Syntax
    var declSyntax: Syntax
    /// The declarations around it, innermost first, without their members.
    var lexicalContext: [Syntax]?
}

/// The outcome of an expansion: source text, and messages to the user.
struct Expansion: Encodable {
    var expandedSource: String
    var diagnostics: [Diagnostic]

    init(_ source: String = "", diagnostics: [Diagnostic] = []) {
        (expandedSource, self.diagnostics) = (source, diagnostics)
    }

    /// One message at a place in the user's file.
    struct Diagnostic: Encodable {
        var message: String
        var severity = "error"
        var position: ExpansionRequest.Location
        // The compiler's decoder requires these. They are always empty.
        var highlights: [Never] = []
        var notes: [Never] = []
        var fixIts: [Never] = []
    }
}
