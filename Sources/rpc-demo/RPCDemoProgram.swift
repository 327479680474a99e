// The tour as a program: command line in, acts played one after the other, exit code out.
//
// Where to read: `Tour` lists the acts. Each file in `Acts` holds those of one theme, and each act is one function that
// can be read alone, as a sample.

import RPCServer
import RPCSockets
import RemoteProxy

@main
struct RPCDemoProgram {
    static func main() async {
        // A tour that hangs has found a bug. Without this limit it would hide the bug by never ending.
        let watchdog = Task.detached {
            try await Task.sleep(for: .seconds(300))
            fail(1, "the tour has not come to its end within five minutes")
        }
        defer { watchdog.cancel() }
        let options: DemoOptions
        do {
            options = try DemoOptions(CommandLine.arguments.dropFirst())
        } catch {
            fail(64, "\(error); see rpc-demo --help")
        }
        if let answer = options.answer { return StandardStream.output.write(line: answer) }
        do {
            try await play(options)
        } catch {
            fail(1, "\(error)")
        }
    }

    private static func play(_ options: DemoOptions) async throws {
        let server = RPCServer()
        let endpoint: Endpoint
        if let named = options.endpoint {
            endpoint = named
        } else {
            Tour.exportSubjects(to: server)
            endpoint = try await server.listen(on: "tcp://127.0.0.1:0")
        }
        let stage = Stage(endpoint: endpoint)
        try await Tour.findSubjects(on: stage)

        let ink = Ink()
        let whose = options.endpoint == nil ? "a server started for this tour" : "the running server you named"
        ink.write("A tour of RemoteProxy with \(whose), \(stage.endpoint)", .bold)
        let start = ContinuousClock.now
        for (act, label) in options.acts {
            stage.begins(act, label)
            do {
                try await act.play(stage)
            } catch {
                throw Difference("act \(label), \(act.title.lowercased()): \(error)")
            }
        }
        let count = options.acts.count == 1 ? "The act" : "All \(options.acts.count) acts"
        ink.write("\n\(count) came out as expected, in \(start.duration(to: .now).text).", .green)
        stage.client.close()
        await server.stop()
    }

    private static func fail(_ code: Int32, _ text: String) -> Never {
        StandardStream.error.write(line: "rpc-demo: \(text)")
        ProcessEnvironment.exit(code)
    }
}
