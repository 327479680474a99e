// Over what the clients of a test reach its server. A test that takes it as an argument runs over each.

import RPCSockets
package import RemoteProxy
import Testing

package enum Medium: Sendable, CustomTestStringConvertible {
    case socket, memory
    /// Sockets with TLS. The server needs a certificate.
    case tls

    package static let allCases: [Medium] = [.socket, .memory]
    /// For servers that are made for a medium. Without TLS where the machine has no library for it.
    package static let withTLS = allCases + ((try? OwnCertificate.files(in: folder.path)) == nil ? [] : [.tls])

    private static let folder = TemporaryFolder()
    /// One for all tests.
    package static let certificate = TLSCertificate.selfSigned(in: folder.path)

    package var testDescription: String { "over \(self)" }
}

extension Transport {
    /// The way to an address.
    package static func socket(_ endpoint: Endpoint) -> Transport {
        Transport { .to(endpoint, $0) }
    }
}
