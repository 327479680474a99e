// A server's whole program: command line in, server running, signals watched, exit code out.

import RPCWire
public import RemoteProxy

/// The command line that every server gets in one line: the options of `rpc-server` around your own objects.
///
/// ```swift
/// @main struct Main {
///     static func main() async {
///         await ServerCommand(exports: GreeterProxy(EnglishGreeter())).run()
///     }
/// }
/// ```
public struct ServerCommand: Sendable {
    /// Where a server listens that is told nothing else.
    public static let defaultURL = "tcp://127.0.0.1:7070"
    /// The version that `--version` prints.
    public static let version = "0.1.0"

    private let export: @Sendable (RPCServer) -> Void

    /// A program that serves the given proxies.
    public init(exports proxies: any ServiceProxy...) {
        export = { server in
            for proxy in proxies { server.export(proxy) }
        }
    }

    /// A program that serves what `export` exports, for instance named objects.
    public init(export: @escaping @Sendable (RPCServer) -> Void) {
        self.export = export
    }

    /// Does what the command line says and ends the process: with 0 after a signal or for `--help` and `--version`,
    /// 64 when the command line is wrong, 1 when an address cannot be had.
    /// - Parameter arguments: the program's name and what follows it.
    public func run(_ arguments: [String] = CommandLine.arguments) async -> Never {
        let program = arguments.first?.split(separator: "/").last.map(String.init) ?? "rpc-server"
        do {
            let settings = try CommandOption.read(arguments.dropFirst())
            if settings.wantsHelp {
                finish(saying: CommandOption.help(for: program))
            } else if settings.wantsVersion {
                finish(saying: "\(program) \(Self.version)")
            }
            try await serve(settings, as: program)
        } catch let fault as CommandFault {
            fail(64, "\(program): \(fault.text); see \(program) --help")
        } catch {
            fail(1, "\(program): \(error)")
        }
        ProcessEnvironment.exit(0)
    }

    private func serve(_ settings: CommandSettings, as program: String) async throws {
        var configuration = settings.configuration
        if !settings.isQuiet {
            configuration.log = { StandardStream.error.write(line: "\(program): \($0)") }
        }
        let server = RPCServer(configuration)
        export(server)
        let signals = try watchSignals(server)
        defer { signals.close() }
        do {
            for url in settings.urls.isEmpty ? [Self.defaultURL] : settings.urls {
                StandardStream.output.write(line: "listening on \(try await server.listen(on: url))")
            }
        } catch {
            await server.stop(grace: .zero)
            throw error
        }
        await server.waitUntilStopped()
    }

    /// The first signal drains, the second does not wait.
    private func watchSignals(_ server: RPCServer) throws -> SignalSource {
        ProcessSignal.ignoreBrokenPipes()
        let isStopping = Lock(false)
        return try SignalSource([.terminate, .interrupt], on: .shared) { _ in
            let isSecond = isStopping.withLock { flag in
                defer { flag = true }
                return flag
            }
            if isSecond { ProcessEnvironment.exit(1) }
            Task { await server.stop() }
        }
    }

    private func finish(saying text: String) -> Never {
        StandardStream.output.write(line: text)
        ProcessEnvironment.exit(0)
    }

    private func fail(_ code: Int32, _ text: String) -> Never {
        StandardStream.error.write(line: text)
        ProcessEnvironment.exit(code)
    }
}
