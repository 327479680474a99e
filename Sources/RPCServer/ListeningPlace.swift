// What a server does at one of its addresses, and whether that is safe. Pure.

import RPCSockets
import RPCWire
import RemoteProxy

/// An address of a server.
struct ListeningPlace: Sendable {
    /// Whether TLS is spoken there.
    enum Speech: Sendable {
        case absent, optional, required
    }

    let socket: SocketEndpoint
    let tls: Speech
    /// Why calls are not safe there, for the middle of a sentence; nil if they are.
    let danger: String?

    /// - Throws: why a server with this configuration cannot listen there, in one line.
    init(_ endpoint: Endpoint, _ configuration: RPCServer.Configuration, hasTokens: Bool) throws(SetupError) {
        let destination = try endpoint.destination()
        socket = try destination.socket()
        tls = try Self.speech(at: destination, endpoint, configuration.tls)
        if socket.isLoopback {
            danger = nil
        } else if !hasTokens && configuration.tls?.clients.authorities == nil {
            danger = "nothing keeps strangers out"
        } else {
            danger = tls == .required ? nil : "others can read and change the calls"
        }
    }

    /// Why a server should not listen there without being told so.
    func objection(to endpoint: Endpoint) -> String? {
        guard let danger else { return nil }
        let needed =
            tls == .required
            ? "tokens (--tokens FILE)"
            : "a certificate (--tls-certificate FILE --tls-key FILE, or --tls-self-signed FOLDER) and tokens (--tokens FILE)"
        return
            "\(endpoint) can be reached from other machines, and \(danger): give it \(needed), listen on loopback, or set "
            + "allowsOtherMachines (--insecure) if you mean it"
    }

    private static func speech(
        at destination: Destination, _ endpoint: Endpoint, _ settings: TLS?
    ) throws(SetupError) -> Speech {
        switch destination {
        case .tls(_, pin: .some):
            throw SetupError("\(endpoint) has a pin, which only a client needs; the server has the key itself")
        case .tls:
            if settings != nil { return .required }
            throw SetupError(
                "\(endpoint) needs a certificate: set tls (--tls-certificate FILE --tls-key FILE, or --tls-self-signed FOLDER)"
            )
        case .program, .plain(.unix): return .absent
        case .plain(let socket):
            guard let settings else { return .absent }
            return switch settings.plaintext {
            case .refused: .required
            case .admitted: .optional
            // Where only certain certificates are let in, a caller without any must not be.
            case nil: socket.isLoopback && settings.clients.authorities == nil ? .optional : .required
            }
        }
    }
}
