// One message of the compiler in, one answer out. Whatever arrives, something is answered: a compiler that waits for
// an answer hangs the user's build.

private import JSONCodec

/// Which macros there are, and how each kind of request is answered.
struct PluginConversation {
    let macros: [String: @Sendable (ExpansionRequest) -> Expansion]

    func answer(to message: [UInt8]) -> [UInt8] {
        let output = JSONOutput()
        // Our own messages hold nothing that JSON cannot: strings and small numbers.
        try? output.encode(reply(to: message))
        return Array(output.bytes)
    }

    private func reply(to message: [UInt8]) -> PluginMessage {
        guard let request = try? message.withUnsafeBytes({ try decodeJSON(HostMessage.self, from: $0) }) else {
            return failure("the compiler sent a message that the macro plugin cannot read")
        }
        if request.getCapability != nil {
            return PluginMessage(getCapabilityResult: .init())
        }
        guard let expansion = request.expandAttachedMacro else {
            return failure("the compiler asked the macro plugin for something other than an attached macro")
        }
        guard let expand = macros[expansion.macro.typeName] else {
            return failure("the macro plugin has no macro '\(expansion.macro.typeName)'")
        }
        return PluginMessage(expandMacroResult: expand(expansion))
    }

    /// An expansion that failed is an answer to any request; a compiler that expects another kind reports a mismatch.
    private func failure(_ message: String) -> PluginMessage {
        let diagnostic = Expansion.Diagnostic(message: message, position: .init(fileName: "", offset: 0))
        return PluginMessage(expandMacroResult: Expansion(expandedSource: "", diagnostics: [diagnostic]))
    }
}
