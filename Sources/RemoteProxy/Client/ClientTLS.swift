// How a client puts TLS around its connections to one server.

import RPCSockets
import RPCWire

/// The trust of one client, and the session that its next handshake goes on with.
final class ClientTLS: Sendable {
    private let endpoint: String
    private let host: String
    private let isAddress: Bool
    private let pin: KeyPin?
    private let settings: RPCClient.Configuration.TLS
    /// Made by the first attempt, so that a client of no server loads nothing.
    private let context = Lock<TLSContext?>(nil)
    private let resumption = TLSResumption()

    /// - Parameter pin: of the server's key, if its address has one.
    init(_ socket: SocketEndpoint, _ pin: KeyPin?, _ settings: RPCClient.Configuration.TLS) {
        (host, isAddress) = socket.hostInCertificate ?? ("\(socket)", false)
        (endpoint, self.pin, self.settings) = ("\(Destination.tls(socket, pin: nil))", pin, settings)
    }

    /// Shakes hands over a new connection.
    /// - Parameter made: holds the channel until the handshake has ended. If it is taken out before, `done` is not called.
    func wrap(
        _ inside: any ByteChannel, _ made: Lock<TLSChannel?>,
        _ done: @escaping @Sendable (Result<any ByteChannel, SetupError>) -> Void
    ) {
        do throws(SetupError) {
            let channel = try TLSChannel(
                over: inside, remoteAddress: endpoint, to: host, isAddress: isAddress, try readyContext(), resumption
            ) { [endpoint] handshake in
                guard let channel = made.withLock({ $0.take() }) else { return }
                switch handshake {
                case .finished: done(.success(channel))
                case .failed(let why, let isLasting):
                    done(.failure(SetupError("\(endpoint): TLS: \(why)", isLasting: isLasting)))
                // Only servers have limits for handshakes.
                case .late, .crowdedOut: break
                }
            }
            made.withLock { $0 = channel }
        } catch {
            inside.abort()
            done(.failure(SetupError("\(endpoint): \(error)", isLasting: true)))
        }
    }

    /// Files are read for each attempt, since they may have been renewed. What is built in is made once.
    private func readyContext() throws(SetupError) -> TLSContext {
        if let context = context.withLock({ $0 }) { return context }
        let made = try TLSContext(trust(), settings.certificate?.files())
        if settings.certificate == nil, isBuiltIn { context.withLock { $0 = made } }
        return made
    }

    private var isBuiltIn: Bool { if case .file = settings.trust { pin != nil } else { true } }

    private func trust() throws(SetupError) -> ServerTrust {
        if let pin { return .pin(pin) }
        switch settings.trust {
        case .system: return .system
        case .file(let path): return .file(path)
        case .pin(let text):
            guard let pin = KeyPin(text) else {
                throw SetupError("tls.trust has the pin \"\(text)\", but a pin is sha256: and 64 hexadecimal digits")
            }
            return .pin(pin)
        }
    }
}
