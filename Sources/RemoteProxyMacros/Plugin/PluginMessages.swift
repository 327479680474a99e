// The few messages of the compiler that we understand, and our answers, as Codable values. Members not named here are
// passed over: each request carries more than we need, and every toolchain adds to it.

/// What the compiler asks. Exactly one member is there, and its name is the kind of request.
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
    struct Location: Decodable {
        var fileName: String
        var offset: Int
    }

    var macro: Macro
    var attributeSyntax: Syntax
    var declSyntax: Syntax
    /// The declarations around it, innermost first, without their members.
    var lexicalContext: [Syntax]?
}

/// What we answer. Exactly one member is there.
struct PluginMessage: Encodable {
    var getCapabilityResult: CapabilityResult?
    var expandMacroResult: Expansion?

    struct CapabilityResult: Encodable {
        var capability = Capability()
    }

    struct Capability: Encodable {
        /// The version whose messages these are.
        var protocolVersion = 7
    }
}

/// The outcome of an expansion: source text, and what to tell the user.
struct Expansion: Encodable {
    var expandedSource: String
    var diagnostics: [Diagnostic] = []

    /// One message at a place in the user's file.
    struct Diagnostic: Encodable {
        var message: String
        var severity = "error"
        var position: Position
        // Required by the compiler's decoder although we never fill them.
        var highlights: [Never] = []
        var notes: [Never] = []
        var fixIts: [Never] = []
    }

    struct Position: Encodable {
        var fileName: String
        var offset: Int
    }
}
