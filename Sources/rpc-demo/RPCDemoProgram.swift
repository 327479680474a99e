// The tour as a program: command line in, acts played one after the other, exit code out.
//
// Where to read: `Tour` lists the acts. In `Acts` each file is one of them, and each folder is one with its parts, so
// that each can be read alone, as a sample.

import RPCServer
import RPCSockets
import RPCWire
import RemoteProxy

@main
struct RPCDemoProgram {
    static func main() async {
        do {
            let options = try DemoOptions(CommandLine.arguments.dropFirst())
            if options.wantsHelp { finish(saying: DemoOptions.help) }
            try await play(options)
        } catch let fault as CommandLineFault {
            fail(64, "\(fault.text); see rpc-demo --help")
        } catch {
            fail(1, "\(error)")
        }
    }

    private static func play(_ options: DemoOptions) async throws {
        let stage = Stage(ink: .standard)
        let watchdog = giveUp(after: .seconds(300))
        defer { watchdog.cancel() }
        if let url = options.url {
            try await Tour(url: url, isOwnServer: false).play(on: stage)
        } else {
            let server = RPCServer()
            Tour.exportSubjects(to: server)
            let url = try await server.listen(on: "tcp://127.0.0.1:0")
            try await Tour(url: url, isOwnServer: true).play(on: stage)
            await server.stop()
        }
    }

    /// A tour that hangs has found a bug, and must not hide it by hanging. It takes six seconds where nothing else runs,
    /// and several times that where much does.
    private static func giveUp(after limit: Duration) -> Task<Void, any Error> {
        Task.detached {
            try await Task.sleep(for: limit)
            fail(1, "the tour has not come to its end within \(limit.text)")
        }
    }

    private static func finish(saying text: String) -> Never {
        StandardStream.output.write(line: text)
        ProcessEnvironment.exit(0)
    }

    private static func fail(_ code: Int32, _ text: String) -> Never {
        StandardStream.error.write(line: "rpc-demo: \(text)")
        ProcessEnvironment.exit(code)
    }
}
