// `rpc-server attach URL`: joins standard input and output to a server that runs already. So `ssh host rpc-server attach
// unix:///run/app.sock` reaches it, and its sessions survive the loss of that ssh.

import RPCSockets

struct AttachCommand {
    static let name = "attach"

    private let program: String
    private let arguments: [String]

    /// - Parameter arguments: those behind the name of the command.
    init(_ program: String, _ arguments: some Sequence<String>) {
        (self.program, self.arguments) = (program, Array(arguments))
    }

    /// Copies both ways until the server has closed the connection or the output has no reader. Then ends the process with 0. Ends
    /// it with 64 when the command line is wrong, and with 1 when the server cannot be reached; one line says why.
    func run() async -> Never {
        guard arguments.count == 1, let address = arguments.first else {
            end(64, "\(Self.name) needs one address: \(program) \(Self.name) unix:///run/app.sock")
        }
        let endpoint: SocketEndpoint
        do throws(SetupError) { endpoint = try SocketEndpoint(address) } catch { end(64, "\(error)") }
        do throws(SetupError) {
            try await StandardStreams.claim().attach(to: endpoint, timeout: .seconds(10))
        } catch {
            end(1, "\(error)")
        }
        ProcessEnvironment.exit(0)
    }

    private func end(_ code: Int32, _ why: String) -> Never {
        StandardStream.error.write(line: "\(program): \(why.onOneLine)")
        ProcessEnvironment.exit(code)
    }
}
