// The address of a server, as a value instead of a text.

package import RPCSockets

/// Where a server listens: `tcp://host:port`, `tcp://[::1]:port` or `unix:///path`.
///
/// A text in quotation marks is one without further ado: `RPCClient("tcp://127.0.0.1:7070")`. Any other text becomes one by
/// `init(_:)`, which says at once what is wrong with it:
///
/// ```swift
/// let client = RPCClient(try Endpoint("tcp://\(host):7070"))
/// ```
public struct Endpoint: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The address as a text, with the scheme in lower case and no slash at the end. Two endpoints are equal if their texts are.
    public let description: String

    /// Not for a literal, which Swift takes as it is also in parentheses: `Endpoint("…")` never throws.
    /// - Throws: `RPCError` with the code `.invalidAddress` if the text is no address. It says what to write instead.
    public init(_ text: String) throws(RPCError) {
        do throws(SetupError) {
            description = try SocketEndpoint(text).description
        } catch {
            throw RPCError(.invalidAddress, error.description, outcome: .notExecuted, underlying: error)
        }
    }

    /// The address that stands in the program. If it is none, calls through a client throw what `init(_:)` would have thrown, and
    /// a server cannot listen there.
    public init(stringLiteral text: String) {
        description = (try? SocketEndpoint(text).description) ?? text
    }

    package init(_ socket: SocketEndpoint) { description = socket.description }

    /// - Throws: What is wrong with a literal.
    package func socket() throws(SetupError) -> SocketEndpoint { try SocketEndpoint(description) }
}
