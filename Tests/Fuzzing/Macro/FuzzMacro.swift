// The macro: whatever stands in the user's file, something is answered, and a refusal points into the file.

@testable import RemoteProxyMacros

func fuzzMacro(_ bytes: UnsafeRawBufferPointer) {
    guard let first = bytes.first else { return }
    let text = bytes.dropFirst()
    guard first != UInt8(ascii: "{") else {
        require(!PluginConversation.answer(to: Array(bytes)).isEmpty, "the compiler waits for an answer")
        return
    }
    let parts = text.split(separator: 0, maxSplits: 1).map { String(decoding: $0, as: UTF8.self) }
    guard let source = parts.first else { return }
    let expansion = Macros.service(
        ExpansionRequest(
            macro: .init(typeName: "ServiceMacro"),
            attributeSyntax: .init(
                source: parts.count > 1 ? parts[1] : "@Service", location: .init(fileName: "Service.swift", offset: 10)),
            declSyntax: .init(source: source, location: .init(fileName: "Service.swift", offset: 1_000)),
            lexicalContext: nil))
    require(!expansion.expandedSource.isEmpty || !expansion.diagnostics.isEmpty, "nothing is said")
    // A fault of the attribute is shown there.
    for diagnostic in expansion.diagnostics where diagnostic.position.offset >= 1_000 {
        require(diagnostic.position.offset <= 1_000 + source.utf8.count, "a place outside the source")
    }
    // The compiler hands over only attributes that it could parse itself.
    guard expansion.diagnostics.isEmpty, parts.count == 1 else { return }
    let tokens = SwiftLexer.tokens(of: Array(expansion.expandedSource.utf8)).map(\.text)
    for (open, close) in [("{", "}"), ("(", ")"), ("[", "]")] {
        require(tokens.count { $0 == open } == tokens.count { $0 == close }, "brackets of \(source)")
    }
}
