// What a command line says of TLS.

import RPCSockets
import RemoteProxy

/// The values of the options that begin with `--tls`; nil for those that are not given.
struct CommandTLS: Sendable {
    var certificate: String?
    var key: String?
    var authorities: String?
    var folder: String?
    var plaintext: String?

    /// - Returns: nil if none is given.
    func settings() throws(SetupError) -> TLS? {
        var tls = TLS(certificate: .selfSigned(in: folder ?? ""))
        switch (certificate, key, folder) {
        case (nil, nil, nil):
            let lonely = [("--tls-client-ca", authorities), ("--tls", plaintext)].first { $0.1 != nil }
            guard let lonely else { return nil }
            throw SetupError(
                "\(lonely.0) needs a certificate: --tls-certificate FILE --tls-key FILE, or --tls-self-signed FOLDER")
        case (let certificate?, let key?, nil): tls.certificate = .files(certificate, key)
        case (nil, nil, .some): break
        case (_, _, .some):
            throw SetupError(
                "--tls-self-signed makes a certificate, so --tls-certificate and --tls-key cannot be there")
        case (_, nil, nil): throw SetupError("--tls-certificate needs the key of the certificate too: --tls-key FILE")
        case (nil, _, nil): throw SetupError("--tls-key needs the certificate of the key too: --tls-certificate FILE")
        }
        if let authorities { tls.clients = .signedBy(authorities) }
        switch plaintext {
        case nil: break
        case "required": tls.plaintext = .refused
        case "optional": tls.plaintext = .admitted
        case let other?: throw SetupError("--tls takes 'required' or 'optional', not '\(other)'")
        }
        return tls
    }
}
