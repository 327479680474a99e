// How the clients of a test reach its server.

import RPCServer
import RemoteProxy
import TestSupport

extension RPCServer {
    /// How clients reach this server. It listens on a free port if that is over sockets.
    func reached(over medium: Medium) async throws -> Transport {
        switch medium {
        case .socket: .socket(try await listen(on: "tcp://127.0.0.1:0"))
        case .memory: .inProcess(self)
        case .child:
            .process(
                try ChildProcess.built("rpc-server"), ["attach", "\(try await listen(on: Medium.placeForChildren))"])
        // The address has the pin of the key.
        case .tls: .socket(try await listen(on: "tls://127.0.0.1:0"))
        }
    }
}
