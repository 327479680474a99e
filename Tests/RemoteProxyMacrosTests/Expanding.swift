// Source of a declaration in, what the plugin would answer the compiler out.

@testable import RemoteProxyMacros

/// A file with one declaration that `@Service` is attached to.
struct Expanding {
    /// Where the declaration begins in the imagined file: positions must count from there.
    static let offset = 1000

    let source: String
    let expansion: Expansion

    init(_ source: String, attribute: String = "@Service", as role: String = "peer", inside context: [String] = []) {
        self.source = source
        expansion = Macros.service(
            ExpansionRequest(
                macro: .init(typeName: "ServiceMacro"), macroRole: role,
                attributeSyntax: .init(
                    source: attribute, location: .init(fileName: "/house/Service.swift", offset: Self.offset)),
                declSyntax: .init(
                    source: source, location: .init(fileName: "/house/Service.swift", offset: Self.offset)),
                lexicalContext: context.map { .init(source: $0) }))
    }

    /// Each message with the line of the source that it points at, counted from one.
    var messages: [String] {
        expansion.diagnostics.map { "\(line(at: $0.position.offset - Self.offset)): \($0.message)" }
    }

    /// What the messages point at: the source from there to the end of the word.
    var words: [String] {
        expansion.diagnostics.map { diagnostic in
            let rest = source.utf8.dropFirst(diagnostic.position.offset - Self.offset)
            return String(Substring(rest).prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "#" || $0 == "`" })
        }
    }

    private func line(at offset: Int) -> Int {
        source.utf8.prefix(offset).count { $0 == UInt8(ascii: "\n") } + 1
    }

    /// The lines of the expansion that contain a text, without indentation.
    func lines(with text: String) -> [String] {
        expansion.expandedSource.split(separator: "\n").filter { $0.contains(text) }.map {
            String($0.drop { $0 == " " })
        }
    }
}
