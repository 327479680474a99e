// The compiler starts this program and asks it to expand macros. Here stands what it can expand, and nothing else.

@main
struct Plugin {
    static let macros: [String: @Sendable (ExpansionRequest) -> Expansion] = [
        "ServiceMacro": ServiceMacro.expand,
        "MarkMacro": MarkMacro.expand,
        "OtherConformerMacro": OtherConformerMacro.expand,
    ]

    static func main() {
        PluginChannel().serve { PluginConversation(macros: macros).answer(to: $0) }
    }
}
