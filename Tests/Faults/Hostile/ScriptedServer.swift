// A server that says what a script says: every connection is handed to the script, on a thread of its own.

import RPCSockets
import RPCWire
package import RemoteProxy

package final class ScriptedServer: Sendable {
    package let url: Endpoint
    private let listener: RawDescriptor
    private let peers: Lock<[ScriptedPeer]>

    package init(_ script: @escaping @Sendable (ScriptedPeer) throws -> Void) throws {
        let (listener, url) = try RawDescriptor.listening()
        let peers = Lock<[ScriptedPeer]>([])
        try SystemThread.start(name: "scripted-server") {
            while let connection = listener.accepted() {
                let peer = ScriptedPeer(connection)
                peers.withLock { $0.append(peer) }
                try? SystemThread.start(name: "scripted-peer") {
                    // Whatever ends the script ends the connection: mostly that the client has gone.
                    try? script(peer)
                    peer.connection.shut()
                }
            }
        }
        (self.url, self.listener, self.peers) = (url, listener, peers)
    }

    deinit {
        // Wakes the threads, which end.
        listener.shut()
        for peer in peers.withLock({ $0 }) { peer.connection.shut() }
    }

    /// How many times somebody has connected.
    package var connections: Int { peers.withLock { $0.count } }
}
