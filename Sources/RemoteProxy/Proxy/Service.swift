// The macros that a user writes: one on a protocol, two that may mark its requirements.

/// Makes a protocol callable across processes. It writes `NAMEProxy`, which conforms to the protocol and forwards every call to
/// a subject: the real object, or one at the other end of a connection.
///
/// ```swift
/// @Service
/// public protocol Greeter: Sendable {
///     func greet(_ name: String) async throws -> String
/// }
/// ```
///
/// The signature of a requirement alone decides what it becomes. `async throws` is a call with one reply. A function without
/// `throws` and without a result is a post, sent one way; with `async` its object may be an actor, or a class on the main actor.
/// `{ get async throws }` is a call. Arguments and results are `Codable & Sendable` values, or objects of a service, spelled
/// `any Book`; a parameter may also be a closure. Anything else is refused at its line with the reason and the fix.
///
/// A service may refine other services: `protocol Selecting: Scrolling`, both with `@Service`. Its proxy then has the methods of
/// both, and all are called by its own name on the wire. A service that others refine is declared outside of other types.
///
/// A method is called `Greeter.greet` on the wire. Overloads have their labels in that name: `Greeter.greet(_:in:)`. So adding
/// an overload to a method changes the wire name of that method, and clients built before get `.noSuchMethod`. Where such
/// clients are in use, give the new method another name.
///
/// - Parameters:
///   - name: The service's name on the wire, instead of the protocol's name, for instance because another protocol has that
///     name. A literal such as `"Ledger"` or `"bank.Ledger"`. Both ends must have the same.
///   - errors: Error types that travel as themselves. A caller catches them as the Swift type the subject threw; any other
///     error arrives as `RPCError` with the code `.subjectFailed` and no text of the original. Types of the same name are told
///     apart by their spelling here: `Login.Failure.self, Payment.Failure.self`.
@attached(peer, names: suffixed(Proxy))
@attached(extension, names: arbitrary)
public macro Service(name: String? = nil, errors: any (Error & Codable & Sendable).Type...) =
    #externalMacro(module: "RemoteProxyPlugin", type: "ServiceMacro")

/// Says that running a requirement of a service twice is the same as running it once. So it may be sent again when it may have
/// run already: after the server has restarted, and by a retrying proxy.
///
/// ```swift
/// @Idempotent func rename(_ id: Int, to name: String) async throws
/// ```
///
/// It is a promise about the real object, which is not checked. It may mark calls, properties and posts.
@attached(peer)
public macro Idempotent() = #externalMacro(module: "RemoteProxyPlugin", type: "MarkMacro")

/// Says that a requirement of a service changes nothing that a caller could see. That includes `@Idempotent`. Besides, readers
/// may share a lock, a guard that allows reading lets it pass, and its results may be cached.
///
/// ```swift
/// @ReadOnly func find(_ id: Int) async throws -> Item?
/// @ReadOnly var count: Int { get async throws }
/// ```
///
/// It is a promise about the real object, which is not checked.
@attached(peer)
public macro ReadOnly() = #externalMacro(module: "RemoteProxyPlugin", type: "MarkMacro")
