// The certificate with which an end shows who it is, as its user names it.

package import RPCSockets

/// A certificate and its key, for ``RPCClient/Configuration/TLS/certificate`` and for servers.
public struct TLSCertificate: Sendable, Hashable {
    private enum Place: Hashable {
        case files(CertificateFiles)
        case folder(String)
    }

    private let place: Place

    /// A certificate in files.
    /// - Parameters:
    ///   - chain: a file in PEM with the certificate, and behind it those of the authorities between it and one that is trusted.
    ///   - key: a file in PEM with the key of the certificate, without a password. Others than its owner and group must not be
    ///     able to read it.
    public static func files(_ chain: String, _ key: String) -> TLSCertificate {
        TLSCertificate(place: .files(CertificateFiles(chain: chain, key: key)))
    }

    /// A certificate that this program makes and signs itself when it first needs it. It is kept in a folder, and is valid for ten
    /// years. Others trust it by the pin of its key, as they trust a key of ssh.
    /// - Parameter folder: for the files `certificate.pem` and `key.pem`. It is made if it is not there.
    public static func selfSigned(in folder: String) -> TLSCertificate { TLSCertificate(place: .folder(folder)) }

    /// The files. Those of a certificate of one's own are made if they are not there.
    package func files() throws(SetupError) -> CertificateFiles {
        switch place {
        case .files(let files): files
        case .folder(let folder): try OwnCertificate.files(in: folder)
        }
    }

    /// Whether others can trust it only by its pin.
    package var isSelfSigned: Bool { if case .folder = place { true } else { false } }
}
