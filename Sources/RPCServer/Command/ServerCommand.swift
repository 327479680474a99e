// A server's whole program: it reads the command line, runs the server, obeys signals, and ends with an exit code.

import Dispatch
import RPCSockets
import RPCWire
public import RemoteProxy

/// A server's whole program in one line: the command line of `rpc-server` around your own objects.
///
/// ```swift
/// @main struct Main {
///     static func main() async throws {
///         try await ServerCommand(exports: GreeterProxy(EnglishGreeter())).run()
///     }
/// }
/// ```
public struct ServerCommand: Sendable {
    /// The address to listen on when the command line names none.
    static let defaultEndpoint: Endpoint = "tcp://127.0.0.1:7070"
    /// The variable of the environment that holds the tokens if `--tokens` names no file.
    static let tokensVariable = "RPC_TOKENS"

    /// A server that has so many descriptors is far from having taken all of them when `main` begins.
    private static let enoughDescriptors = 64

    /// What the closure that exports is given.
    public struct Context: Sendable {
        /// The server, which does not listen yet.
        public let server: RPCServer
        /// The values of the program's own options that stand in the command line, by their names: `options["--database"]`. Of
        /// an option that stands there twice the last value counts. A switch has an empty value.
        public let options: [String: String]
        /// Takes a line for the log of the program, in which `--quiet` leaves out nearly everything.
        public let log: @Sendable (LogRecord) -> Void
    }

    private let version: String
    private let log: (@Sendable (LogRecord) -> Void)?
    private let options: [CommandOption]
    private let configure: @Sendable (inout RPCServer.Configuration) throws -> Void
    private let export: @Sendable (Context) async throws -> Void

    /// A program that serves the given proxies. The parameters are those of the other initializer.
    public init(
        exports proxies: any ServiceProxy..., version: String? = nil,
        log: (@Sendable (LogRecord) -> Void)? = nil,
        configure: @escaping @Sendable (inout RPCServer.Configuration) throws -> Void = { _ in }
    ) {
        self.init(version: version, log: log, configure: configure) { context in
            for proxy in proxies { context.server.export(proxy) }
        }
    }

    /// A program that serves what `export` exports, for instance named objects or an object that has to be opened first.
    ///
    /// ```swift
    /// ServerCommand(options: [.option("--database", "FILE", help: "where the books are")]) { context in
    ///     context.server.export(ShelfProxy(try Shelf(at: context.options["--database"] ?? "books.db")))
    /// }.main()
    /// ```
    ///
    /// `export` is called after the command line has been read and before the server listens. When it or `configure` throws,
    /// the program prints the error in one line and exits with 1.
    /// - Parameters:
    ///   - version: what `--version` prints; nil for the version of this library.
    ///   - log: called with each event, as `RPCServer.Configuration.log`. With `--quiet` it gets only the warning about
    ///     `--insecure`. Nil writes a line with the program's name to standard error.
    ///   - options: the program's own, which `--help` shows in a group of their own. One with the name of another is refused
    ///     when the program runs.
    ///   - configure: sets what is no option, or another default for an option. Called after the command line has been read and
    ///     before the server is made. What stands in the command line counts more.
    public init(
        version: String? = nil, log: (@Sendable (LogRecord) -> Void)? = nil, options: [Option] = [],
        configure: @escaping @Sendable (inout RPCServer.Configuration) throws -> Void = { _ in },
        export: @escaping @Sendable (Context) async throws -> Void
    ) {
        (self.version, self.log, self.options) = (version ?? libraryVersion, log, options.map(\.option))
        (self.configure, self.export) = (configure, export)
    }

    /// Serves as the command line says until SIGTERM or SIGINT, lets running calls finish, and returns. Then the program can
    /// clean up. It exits with 0 when `main` returns. A second signal ends the process at once.
    ///
    /// SIGHUP reads the file of `--tokens` again and passes it to `RPCServer.reload(tokens:)`. It also reads the certificate
    /// again, as `RPCServer.reloadCertificate()`. When a file cannot be used, all stays as it is and the log says why. Without such
    /// files the signal is logged and ignored.
    ///
    /// Sockets that systemd has opened for this process, `LISTEN_FDS`, are served too. They take the place of the usual address.
    /// They stay open at systemd when the server stops, so that clients wait for the next one.
    ///
    /// This method ends the process when there is nothing to serve: with 0 after `--help` and `--version`, with 64 when the
    /// command line is wrong, with 1 when the server cannot listen. For 64 and 1, one line on standard error says why.
    /// - Parameter arguments: The program's name and its arguments.
    /// - Throws: `CancellationError` when the calling task was cancelled, which stops the server as a signal does.
    public func run(_ arguments: [String] = CommandLine.arguments) async throws {
        let program = arguments.first?.split(separator: "/").last.map(String.init) ?? "rpc-server"
        if arguments.dropFirst().first == Self.attach {
            await Self.runAttach(program, arguments.dropFirst(2))
        }
        let inherited: [InheritedSocket]
        do throws(SetupError) { inherited = try InheritedSocket.takeAll() } catch {
            Self.end(1, .error, "\(program): \(error)")
        }
        let settings: CommandSettings
        do {
            settings = try CommandSettings(
                arguments.dropFirst(), over: configuration(of: program),
                inherited: inherited.map { Endpoint(.plain($0.endpoint)) }, own: options, configure: configure)
        } catch let error as SetupError {
            Self.end(64, .error, "\(program): \("\(error)".onOneLine); see \(program) --help")
        } catch {
            Self.end(1, .error, "\(program): \("\(error)".onOneLine)")
        }
        if settings.wantsHelp { Self.end(0, .output, CommandHelp.text(for: program, options)) }
        if settings.wantsVersion { Self.end(0, .output, "\(program) \(version)") }
        do {
            try await serve(settings, inherited)
        } catch {
            Self.end(1, .error, "\(program): \("\(error)".onOneLine)")
        }
        try Task.checkCancellation()
    }

    /// Runs a program that does nothing but serve, and ends the process. Call it on the main thread, from a `main` that is
    /// not `async`. Objects may be on the main actor if the process may have 64 files open. Otherwise only threads of this
    /// library are used, so that an idle server is never woken.
    public func main(_ arguments: [String] = CommandLine.arguments) -> Never {
        Task(executorPreference: EventLoop.shared) {
            // `run` throws only when its task is cancelled, which this one never is.
            try? await run(arguments)
            ProcessEnvironment.exit(0)
        }
        // The main queue has the jobs of the main actor. To run them takes a descriptor for a moment, and the process ends with a
        // crash if there is none left. So where there are few, the server must be able to say so, and runs no such jobs.
        if ProcessEnvironment.maximumOpenFiles >= Self.enoughDescriptors { dispatchMain() }
        ProcessEnvironment.waitForExit()
    }

    private func configuration(of program: String) -> RPCServer.Configuration {
        var configuration = RPCServer.Configuration()
        configuration.log = log ?? { LogStream.error.write(line: "\(program): \($0.description.onOneLine)") }
        (configuration.programName, configuration.programVersion) = (program, version)
        return configuration
    }

    /// - Parameter inherited: the sockets of the first addresses.
    private func serve(_ settings: CommandSettings, _ inherited: [InheritedSocket]) async throws {
        var configuration = settings.configuration
        let log = configuration.log
        if settings.isQuiet { configuration.log = { _ in } }
        // Before any code of the program can print.
        if settings.usesStandardStreams { try StandardStreams.protect() }
        let server = RPCServer(configuration)
        let signals = try watchSignals(server) { [configuration, file = settings.tokenFile] in
            Self.reload(server, tokens: file, hasCertificate: configuration.tls != nil, log: configuration.log)
        }
        defer { signals.close() }
        try await export(Context(server: server, options: settings.own, log: configuration.log))
        do {
            if settings.usesStandardStreams { return try await server.runOnStandardStreams() }
            var bound: [Endpoint] = []
            for (number, endpoint) in settings.endpoints.enumerated() {
                let socket = inherited.indices.contains(number) ? inherited[number] : nil
                bound.append(try await server.listen(on: endpoint, socket))
            }
            if let warning = settings.warning { log(LogRecord(.warning, warning)) }
            for endpoint in bound { StandardStream.output.write(line: "listening on \(endpoint)") }
        } catch let error as RPCError where error.code == .closed {
            // A signal came before the last address was open. Nothing has been printed, and nothing is left to do.
        } catch {
            await server.stop(grace: .zero)
            throw error
        }
        await server.driver.serveUntilStopped()
    }

    /// The first signal to end drains, the second does not wait.
    private func watchSignals(_ server: RPCServer, reload: @escaping @Sendable () -> Void) throws -> SignalSource {
        ProcessSignal.ignoreBrokenPipes()
        let isStopping = Lock(false)
        return try SignalSource([.terminate, .interrupt, .hangUp], on: .shared) { signal in
            if signal == .hangUp { return reload() }
            let isSecond = isStopping.withLock { flag in
                defer { flag = true }
                return flag
            }
            if isSecond { ProcessEnvironment.exit(1) }
            server.driver.beginStop(grace: nil)
        }
    }

    /// On the loop of the signals, so that the later of two reloads counts. Reading a small file does not wait.
    private static func reload(
        _ server: RPCServer, tokens file: String?, hasCertificate: Bool, log: @escaping @Sendable (LogRecord) -> Void
    ) {
        server.reloadCertificate()
        guard let file else {
            if hasCertificate { return }
            return log(
                LogRecord(.notice, "ignored SIGHUP: there is no file to read again (--tokens, --tls-certificate)"))
        }
        do throws(TokenListError) {
            let tokens = try TokenList(file: file)
            // Logged first: the lines about connections that the reload ends come behind it.
            log(LogRecord(.notice, "read the token file \(file) again: \(tokens)"))
            server.reload(tokens: tokens)
        } catch {
            log(LogRecord(.error, "kept the tokens as they were: \(error)"))
        }
    }

    static func end(_ code: Int32, _ stream: StandardStream, _ text: String) -> Never {
        stream.write(line: text)
        ProcessEnvironment.exit(code)
    }
}
