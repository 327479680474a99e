// The secret that a client is configured with and shows to a server.

/// What a client shows to a server that asks for its identity. A token that is printed, dumped or logged shows nothing of the
/// secret.
///
/// ```swift
/// var configuration = RPCClient.Configuration()
/// configuration.token = Token(secretFromTheKeychain)
/// ```
public struct Token: Sendable {
    package let text: String

    /// A token with the text that is in the server's list.
    public init(_ text: String) { self.text = text }
}

extension Token: ExpressibleByStringLiteral {
    /// For tests and trials only: a secret has no place in a program's text.
    public init(stringLiteral text: String) { self.init(text) }
}

extension Token: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Nothing of the secret.
    public var description: String { "a token" }
    /// Nothing of the secret.
    public var debugDescription: String { description }
    /// Nothing of the secret, for `dump` and for code that prints a configuration.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
