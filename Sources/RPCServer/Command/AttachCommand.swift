// `rpc-server attach URL`: joins standard input and output to a server that runs already. So `ssh host rpc-server attach
// unix:///run/app.sock` reaches it, and its sessions survive the loss of that ssh.

import RPCSockets

extension ServerCommand {
    static let attach = "attach"

    /// Copies both ways until the server has closed the connection or the output has no reader. Then ends the process with 0. Ends
    /// it with 64 when the command line is wrong, and with 1 when the server cannot be reached; one line says why.
    /// - Parameter arguments: those behind the name of the command.
    static func runAttach(_ program: String, _ arguments: ArraySlice<String>) async -> Never {
        func end(_ code: Int32, _ why: String) -> Never {
            self.end(code, .error, "\(program): \(why.onOneLine)")
        }
        guard arguments.count == 1, let address = arguments.first else {
            end(64, "\(attach) needs one address: \(program) \(attach) unix:///run/app.sock")
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
}
