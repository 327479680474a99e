// How a server speaks TLS, as its user says it.

public import RemoteProxy

/// How a server speaks TLS: with which certificate, and to whom. The port is the same as without: the first byte of a connection
/// tells whether the peer speaks TLS.
///
/// ```swift
/// configuration.tls = TLS(certificate: .files("chain.pem", "key.pem"), clients: .signedBy("clients.pem"))
/// ```
///
/// The library is the system's OpenSSL, of version 3 or later. `RPCServer.listen(on:)` throws if it is missing. The versions of TLS
/// are 1.3 and 1.2.
public struct TLS: Sendable, Hashable {
    /// Which clients are let in.
    public struct Clients: Sendable, Hashable {
        let authorities: String?

        /// All. They show no certificate.
        public static let any = Clients(authorities: nil)

        /// Those with a certificate that an authority in this file has signed. Others are refused in the handshake.
        ///
        /// What a certificate is worth stands in the list of tokens: a line with `cert:` and the name in the certificate. A caller
        /// whose certificate has no line has to show a token. Without a list every such client may call, as `cert:` and that name.
        /// - Parameter file: the certificates of the authorities, in PEM.
        public static func signedBy(_ file: String) -> Clients { Clients(authorities: file) }
    }

    /// What becomes of a client that does not speak TLS. There may be more ways later.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Plaintext: Sendable, Hashable {
        /// It gets an error that names the reason. Then its connection is closed, and nothing of it runs.
        case refused
        /// It is served like one with TLS. Others on the way can read and change what it says.
        case admitted
    }

    /// What the server shows to its clients.
    public var certificate: TLSCertificate
    /// Which clients are let in.
    public var clients: Clients
    /// What becomes of clients without TLS. Nil refuses them at addresses that other machines can reach, and where ``clients`` have
    /// to be signed by an authority, and admits them at all others. At `tls://` addresses they are always refused, and on
    /// Unix-domain sockets always admitted.
    public var plaintext: Plaintext?

    /// TLS with this certificate.
    public init(certificate: TLSCertificate, clients: Clients = .any, plaintext: Plaintext? = nil) {
        (self.certificate, self.clients, self.plaintext) = (certificate, clients, plaintext)
    }
}
