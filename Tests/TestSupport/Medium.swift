// Over what the clients of a test reach its server. A test that takes it as an argument runs over each.

package import RemoteProxy
import Testing

package enum Medium: CaseIterable, Sendable, CustomTestStringConvertible {
    case socket, memory

    package var testDescription: String { "over \(self)" }
}

extension Transport {
    /// The way to an address.
    package static func socket(_ endpoint: Endpoint) -> Transport {
        Transport { .to(endpoint, $0) }
    }
}
