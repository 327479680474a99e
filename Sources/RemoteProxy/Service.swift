// The one word a user writes.

/// Makes a protocol callable across processes: writes `NAMEProxy`, which conforms to the protocol and forwards every
/// call to a subject — the real object, or one at the other end of a connection.
///
/// ```swift
/// @Service
/// public protocol Greeter: Sendable {
///     func greet(_ name: String) async throws -> String
/// }
/// ```
///
/// What a requirement becomes is told from its signature alone: `async throws` is a call with one reply; a function
/// with neither effects nor a result is a post, sent one way; `{ get async throws }` is a call. Arguments and results
/// are `Codable & Sendable`. Anything else is refused at its line with the reason and the fix.
///
/// - Parameter errors: Error types that travel as themselves. A caller catches them as the Swift type the subject
///   threw; any other error arrives as `RPCError` with the code `.internalError` and no text of the original.
@attached(peer, names: suffixed(Proxy))
public macro Service(errors: any (Error & Codable & Sendable).Type...) =
    #externalMacro(module: "RemoteProxyMacros", type: "ServiceMacro")
