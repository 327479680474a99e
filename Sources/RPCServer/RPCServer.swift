// The end that listens: the public face. What it does is in `ServerDriver`.

import RPCWire
public import RemoteProxy

/// Hosts objects and serves calls to them on any number of addresses.
///
/// ```swift
/// let server = RPCServer()
/// server.export(GreeterProxy(EnglishGreeter()))
/// try await server.run("tcp://127.0.0.1:7070")
/// ```
///
/// Calls run as tasks, several at a time. One is cancelled when its caller cancels it, when its deadline passes, or when the
/// caller has closed its connection or has had none for `Limits.sessionGrace`. Posts of one connection run in order. An
/// error that a subject throws goes to its caller; a subject that traps ends the process, as everywhere in Swift.
public final class RPCServer: Sendable {
    private let exports: Exports
    let driver: ServerDriver

    /// A server that listens nowhere yet.
    public init(_ configuration: Configuration = Configuration()) {
        exports = Exports(of: Program(title: configuration.programName, version: configuration.programVersion))
        driver = ServerDriver(configuration, exports: exports)
    }

    deinit { driver.abort() }

    /// Makes an object callable, under a name if there are several of one service. The proxy may be around an object of this
    /// process or of another server. Exporting again under the same name replaces the former.
    ///
    /// Two proxies are refused: one of a protocol whose name on the wire another exported protocol has, which
    /// `@Service(name:)` can change, and one under a name that begins with `~`, `#` or `@`. What was exported before stays
    /// as it is, and the log says why. Before the first address, `listen(on:)` and `run` throw the same.
    public func export(_ proxy: some ServiceProxy, named name: String? = nil) {
        if let refusal = exports.add(proxy, named: name) { driver.valve.log(refusal) }
    }

    /// Takes back what was exported of a service, under that name or under none. Later calls throw `RPCError` with the code
    /// `.unimplemented`, and discovery does not list the object. Calls that were accepted before run on. A connection may
    /// keep the object alive until its next request.
    /// - Returns: whether there was such an export.
    @discardableResult
    public func unexport(_ proxy: (some ServiceProxy).Type, named name: String? = nil) -> Bool {
        exports.remove(proxy, named: name)
    }

    /// Replaces the list of tokens while the server runs, as after a change of its file.
    ///
    /// Returns at once, and every login is judged by the new list from then on. Callers whose token is in it with the same
    /// name and roles notice nothing, nor do callers on a Unix-domain socket that have shown no token, since the system names
    /// their user. All others lose their connections and their sessions shortly after, also those that came in without a
    /// token when there was no list: their running calls are cancelled, and nothing can be resumed. Posts of a caller that has
    /// closed its connection before still run.
    ///
    /// ```swift
    /// server.reload(tokens: try TokenList(file: "/etc/greeter/tokens"))
    /// ```
    /// - Parameter tokens: takes the place of `Configuration.tokens`.
    public func reload(tokens: TokenList) { driver.reload(tokens) }

    /// Listens on one more address and returns it, with the real port if it asked for port 0. Serves from then on.
    /// - Throws: `ListenError` when the address cannot be understood or had, or is not loopback while
    ///   there are no tokens and `Configuration.allowsOtherMachines` is false, or is the first and a proxy was refused by
    ///   `export`; `RPCError` with the code `.closed` after `stop`.
    @discardableResult
    public func listen(on url: String) async throws -> String {
        try await driver.listen(on: url)
    }

    /// Listens on the addresses and serves until `stop` is called or the calling task is cancelled, which stops the
    /// server in its own grace time. Returns when all is over.
    /// - Throws: what `listen(on:)` throws; then nothing has been left listening.
    public func run(_ urls: String...) async throws {
        try await run(urls)
    }

    /// Like `run(_:)` with the addresses in an array.
    public func run(_ urls: [String]) async throws {
        do {
            for url in urls { try await driver.listen(on: url) }
        } catch {
            await driver.stop(grace: .zero)
            throw error
        }
        await withTaskCancellationHandler {
            await driver.waitUntilStopped()
        } onCancel: {
            driver.beginStop(grace: nil)
        }
    }

    /// Stops: takes no new connections and calls, tells the clients, lets running calls finish, and closes. Calls that still
    /// run after the grace time are cancelled and their connections closed. Returns when all is over.
    /// - Parameter grace: how long running calls may take; nil for the configured time.
    public func stop(grace: Duration? = nil) async {
        await driver.stop(grace: grace)
    }

    /// Returns once the server has stopped, for whatever reason.
    public func waitUntilStopped() async {
        await driver.waitUntilStopped()
    }

    /// How many connections there are now.
    public var connectionCount: Int { driver.connectionCount }
}

/// Why a server cannot listen on an address.
public struct ListenError: Error, Sendable, CustomStringConvertible {
    /// The address as it was given.
    public let url: String
    /// What happened and what to do about it, in one line that names the address.
    public let description: String
}
