// How a client reaches a server that has no address. The module that knows such a way adds a function to `Transport`.

/// A way to reach a server that has no address: `RPCClient(.inProcess(server))`. An ``Endpoint`` is the way to any other.
///
/// A client on a transport is like one on an endpoint: the same calls, limits, errors and sessions.
public struct Transport: Sendable {
    /// Makes the dialer of one client.
    let dialer: @Sendable (RPCClient.Configuration) -> Dialer

    /// A way that this dialer goes.
    /// - Parameter dialer: called once for each client, with its configuration.
    package init(_ dialer: @escaping @Sendable (RPCClient.Configuration) -> Dialer) { self.dialer = dialer }
}
