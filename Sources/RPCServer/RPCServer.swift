// The public interface of the end that listens. `ServerDriver` does the work.

package import RPCSockets
package import RPCWire
public import RemoteProxy

/// Hosts objects and serves calls to them on any number of addresses.
///
/// ```swift
/// let server = RPCServer()
/// server.export(GreeterProxy(EnglishGreeter()))
/// try await server.run(on: "tcp://127.0.0.1:7070")
/// ```
///
/// Calls run as tasks, several at a time. A call is cancelled when its caller cancels it or its deadline passes. It is also
/// cancelled when the caller has closed its connection, or has had none for `Limits.sessionGrace` or the time that it has
/// asked for. Posts of one connection to one object run in order. An error that a subject throws goes to its caller. A subject
/// that traps ends the process, as everywhere in Swift.
public final class RPCServer: Sendable, CustomReflectable {
    let driver: ServerDriver

    /// A server that listens nowhere yet.
    public init(_ configuration: Configuration = Configuration()) {
        driver = ServerDriver(configuration)
    }

    /// A server whose connections run through channels around those of their sockets.
    /// - Parameter clock: says when to look at the files of the certificate.
    package init(
        _ configuration: Configuration, clock: any Loop = EventLoop.shared,
        wrap: @escaping @Sendable (any ByteChannel) -> any ByteChannel
    ) {
        driver = ServerDriver(configuration, clock: clock, wrap: wrap)
    }

    deinit { driver.abort() }

    /// Shows nothing but the type: what is in it belongs to other threads.
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// Makes an object callable, under a name if there are several of one service. The proxy may be around an object of this
    /// process, of another server, or of a caller. Exporting again under the same name replaces the former object.
    ///
    /// A proxy is refused if another exported protocol has the same name on the wire, which `@Service(name:)` can change. It
    /// is also refused under a name that begins with `~`, `#` or `@`, if two of its methods have one name on the wire and are
    /// declared differently, and if the name of a method has a dot or a bracket. Earlier exports stay as they are. The log and
    /// `Registration.refusal` say why. Before the first address, `listen(on:)` and `run` throw the same.
    /// - Parameter caller: the export is taken back when this caller's session is over.
    /// - Returns: takes the object back. Then later calls throw `RPCError` with the code `.noSuchObject`, and discovery does
    ///   not list it. Calls that were accepted before run on. A connection may keep the object alive until its next request.
    @discardableResult
    public func export(
        _ proxy: some ServiceProxy, named name: String? = nil, endingWith caller: Caller? = nil
    ) -> Registration {
        let registration = driver.exports.add(proxy, named: name, endingWith: caller)
        if let refusal = registration.refusal { driver.logLimiter.log(LogRecord(.error, refusal)) }
        return registration
    }

    /// Not available: what is exported is a proxy.
    @available(*, unavailable, message: "write export(GreeterProxy(object)), with the proxy of your service")
    public func export(_ object: some Any, named name: String? = nil) {}

    /// Replaces the list of tokens while the server runs, as after a change of its file.
    ///
    /// Returns at once. From then on every login is checked against the new list. Callers notice nothing if the list has
    /// their token with the same name and roles. Nor do callers that have shown no token on a Unix-domain socket, since the
    /// system names their user, or in this process, if they were given an identity. All other callers lose their connections and
    /// sessions shortly after. So do callers without a token that connected when there was no list. Their running calls are
    /// cancelled, and their sessions cannot be resumed. Posts of a caller that has closed its connection before still run.
    ///
    /// ```swift
    /// server.reload(tokens: try TokenList(file: "/etc/greeter/tokens"))
    /// ```
    /// - Parameter tokens: takes the place of `Configuration.tokens`.
    public func reload(tokens: TokenList) { driver.reload(tokens) }

    /// Reads the files of `Configuration.tls` again, as after a renewal of the certificate. The server also looks at them once a
    /// minute by itself.
    ///
    /// Returns when they have been read. Later connections get the new certificate, and open ones stay. If the files cannot be
    /// used, the server keeps what it has, and the log says why. Does nothing before the first address.
    public func reloadCertificate() { driver.tls.withLock { $0 }?.reload() }

    /// Listens at one more endpoint, serves from then on, and returns the endpoint. Port 0 becomes the real port.
    /// - Returns: the endpoint with the real port. It begins with `tls://` if clients without TLS are refused there, and has the pin
    ///   of the key if the certificate is self-signed: a client may use it as it is.
    /// - Throws: `RPCServer.ListenError` when the endpoint is no address or is not free, and when the certificate cannot be used.
    ///   Also when other machines can reach it, calls are not safe there, and `Configuration.allowsOtherMachines` is false. Also
    ///   when it is the first address and `export` has refused a proxy. `RPCError` with the code `.closed` after `stop`.
    @discardableResult
    public func listen(on endpoint: Endpoint) async throws -> Endpoint {
        try await driver.listen(on: endpoint)
    }

    /// Listens with a socket that listens at this endpoint already. Otherwise like the function above.
    package func listen(on endpoint: Endpoint, _ inherited: InheritedSocket?) async throws -> Endpoint {
        try await driver.listen(on: endpoint, inherited)
    }

    /// Connects a client of this process.
    /// - Parameters:
    ///   - limits: for the output of the client.
    ///   - thread: which thread of this server serves the connection, if it listens somewhere. Nil for the client's own.
    package func connect(
        as identity: Identity?, _ limits: OutputLimits, onThread thread: Int? = nil
    ) -> Result<any ByteChannel, SetupError> {
        driver.connect(as: identity, limits, onThread: thread, keeping: self)
    }

    /// Listens at the endpoints, logs a line for each, and serves until `stop` is called or the calling task is cancelled.
    /// Cancelling stops the server with its own grace time. Returns when the server has stopped.
    /// - Throws: what `listen(on:)` throws. Then no address is left open.
    public func run(on first: Endpoint, _ others: Endpoint...) async throws {
        do {
            var bound: [Endpoint] = []
            for endpoint in [first] + others { bound.append(try await driver.listen(on: endpoint)) }
            for endpoint in bound { driver.logLimiter.log(LogRecord(.notice, "listening on \(endpoint)")) }
        } catch {
            await driver.stop(grace: .zero)
            throw error
        }
        await driver.serveUntilStopped()
    }

    /// Serves the program that has started this one, over standard input and output. Returns when the server has stopped.
    ///
    /// ```swift
    /// try await server.runOnStandardStreams()
    /// ```
    ///
    /// The two may be pipes, files, terminals or a socket. From then on standard input is empty for other code of the process, and
    /// what it prints goes to standard error, where logs go too. The peer needs no token: it counts as the user of this process,
    /// unless the streams are a socket of another kind. When its output ends, running calls have the time of `Limits.stopGrace`.
    /// Then the server stops, as it does by ``stop(grace:)`` or when the calling task is cancelled. Sessions end with the
    /// connection. The server may listen at addresses as well; these are closed when it stops.
    /// - Throws: `RPCServer.ListenError` when one of the streams is closed, when they serve a server already, or when `export` has
    ///   refused a proxy. `RPCError` with the code `.closed` after `stop`.
    public func runOnStandardStreams() async throws {
        let streams: StandardStreams
        do throws(SetupError) {
            streams = try StandardStreams.claim()
        } catch {
            throw ListenError(
                endpoint: Endpoint(stringLiteral: StandardStreams.address), description: error.description)
        }
        try driver.serve(streams)
        await driver.serveUntilStopped()
        // A reader may be slow, as any peer may.
        await streams.finish(within: driver.configuration.limits.patience)
    }

    /// Stops: takes no new connections and calls, tells the clients, lets running calls finish, and closes. Calls that still
    /// run after the grace time are cancelled and their connections closed. Returns when the server has stopped.
    /// - Parameter grace: how long running calls may take; nil for the configured time.
    public func stop(grace: Duration? = nil) async {
        await driver.stop(grace: grace)
    }

    /// Returns when the server has stopped, for any reason.
    public func waitUntilStopped() async {
        await driver.waitUntilStopped()
    }
}

extension RPCServer {
    /// Why a server cannot listen at an endpoint.
    public struct ListenError: Error, Sendable, CustomStringConvertible {
        /// Where the server should have listened.
        public let endpoint: Endpoint
        /// What happened and what to do about it, in one line that names the endpoint.
        public let description: String
    }
}
