// What all methods of one service share: its name and the errors that travel as themselves.

/// A service's name and its declared errors.
public struct ServiceDescription: Sendable {
    /// The protocol's name, the first half of every wire name.
    public let name: String
    let errors: [any (Error & Codable & Sendable).Type]

    /// Made by generated code.
    public init(_ name: String, errors: [any (Error & Codable & Sendable).Type] = []) {
        self.name = name
        self.errors = errors
    }
}
