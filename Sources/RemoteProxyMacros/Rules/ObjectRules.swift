// Judges `any P`: which objects are sent by reference.

/// Judges the protocols after `any`. Only the compiler knows whether one with a name of its own is a service.
enum ObjectRules {
    /// Why objects of the protocols cannot be sent; nil if they can.
    static func reason(against protocols: String) -> String? {
        if protocols.hasSuffix("?") { return "is 'any \(protocols)'; write '(any \(protocols.dropLast()))?'" }
        let parts = TokenCursor(protocols).tokens.dropLast().filter { !["(", ")"].contains($0.text) }.split {
            $0.text == "&"
        }
        let names = parts.map { $0.map(\.text).joined() }
        guard let service = zip(names, parts).first(where: canBeService)?.0 else {
            return "is 'any \(protocols)': only objects of a @Service are sent by reference; name a Codable type"
        }
        if names == [service] { return nil }
        return "is 'any \(protocols)': "
            + (names.allSatisfy { $0 == service || impliedProtocols.contains($0) }
                ? "an object is sent as its service alone; write 'any \(service)'"
                : "an object is sent as one service; name one that inherits the others")
    }

    private static func canBeService(_ name: String, _ tokens: ArraySlice<SwiftToken>) -> Bool {
        let isName = tokens.allSatisfy { $0.isName || $0.text == "." }
        let isOfLibrary = ["Swift", "_Concurrency"].contains(tokens.first?.text) && tokens.count > 1
        return isName && !isOfLibrary && !standardProtocols.contains(name)
    }

    /// Protocols that add nothing to a service.
    private static let impliedProtocols: Set<String> = ["Sendable", "Swift.Sendable", "AnyObject", "Swift.AnyObject"]

    /// Protocols of the standard library that objects are often known by.
    private static let standardProtocols = ProtocolRules.demanding.union([
        "Actor", "Any", "AnyActor", "AnyObject", "Copyable", "DistributedActor", "Error", "Escapable", "Sendable",
        "SendableMetatype",
    ])
}
