// Over what the clients of a test reach its server. A test that takes it as an argument runs over each.

import RPCSockets
package import RemoteProxy
import Synchronization
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Foundation
#endif

package enum Medium: Sendable, CustomTestStringConvertible {
    case socket, memory
    /// A child of each client, `rpc-server attach`, joins it to a Unix socket of the server. The child ends with the first of the two.
    case child
    /// Sockets with TLS. The server needs a certificate.
    case tls

    package static let allCases: [Medium] = [.socket, .memory, .child]
    /// For servers that are made for a medium. Without TLS where the machine has no library for it.
    package static let withTLS = allCases + ((try? OwnCertificate.files(in: folder.path)) == nil ? [] : [.tls])

    private static let folder = {
        let folder = TemporaryFolder()
        atexit { Medium.removeFolder() }
        return folder
    }()
    private static func removeFolder() { folder.remove() }
    /// One for all tests.
    package static let certificate = TLSCertificate.selfSigned(in: folder.path)

    /// Where a server can listen for children, each time another place. Only the user of this process gets there.
    package static var placeForChildren: Endpoint {
        get throws { try Endpoint("unix://\(folder.path)/\(count.add(1, ordering: .relaxed).newValue)") }
    }
    private static let count = Atomic(0)

    package var testDescription: String { "over \(self)" }

    /// How the address begins by which a server knows its clients.
    package var addressOfClients: String {
        switch self {
        case .socket, .tls: "tcp://127.0.0.1:"
        case .memory: "in process"
        case .child: "unix:"
        }
    }
}

extension Transport {
    /// The way to an address.
    package static func socket(_ endpoint: Endpoint) -> Transport {
        Transport { .to(endpoint, $0) }
    }
}
