// A certificate that a program makes for itself, once. Clients trust it by its pin.

import CSystem
import RPCWire

/// A folder with a key, and with a certificate that the key has signed itself.
package enum OwnCertificate {
    /// Both are used until the clients are told another pin, so they may become old.
    private static let days: Int32 = 3_650
    /// For another program that makes them at the same time.
    private static let patience = Duration.seconds(10)

    /// The files in this folder. The folder, the key and the certificate are made if they are not there.
    package static func files(in folder: String) throws(SetupError) -> CertificateFiles {
        let files = CertificateFiles(chain: "\(folder)/certificate.pem", key: "\(folder)/key.pem")
        try TLSLibrary.load()
        let fault: String?
        do throws(SystemError) {
            if mkdir(folder, 0o700) < 0, system_errno() != EEXIST { throw SystemError("mkdir") }
            fault = try ReplaceableFile(files.chain).locked(patience: patience) { () throws(SystemError) -> String? in
                // The certificate is written last, so there is a key if there is a certificate.
                try ReplaceableFile(files.chain).read(atMost: 1 << 20) == nil ? make(files) : nil
            }
        } catch {
            throw SetupError("no certificate could be made in \(folder): \(error)")
        }
        if let fault { throw SetupError("no certificate could be made: \(fault)") }
        return files
    }

    /// - Returns: what went wrong; nil if nothing has.
    private static func make(_ files: CertificateFiles) throws(SystemError) -> String? {
        var (certificate, key) = (
            [CChar](repeating: 0, count: Int(TLS_PEM)), [CChar](repeating: 0, count: Int(TLS_PEM))
        )
        let host = ProcessEnvironment.hostName
        let names = "DNS:localhost,IP:127.0.0.1,IP:::1" + (host.map { ",DNS:\($0)" } ?? "")
        let fault = tlsFault {
            tls_make_certificate(host ?? "localhost", names, .random(in: 1..<(1 << 62)), days, &certificate, &key, $0)
        }
        if let fault { return fault }
        try ReplaceableFile(files.key).replace(with: bytes(of: key))
        try ReplaceableFile(files.chain).replace(with: bytes(of: certificate))
        return nil
    }

    private static func bytes(of text: [CChar]) -> [UInt8] { text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) } }
}
