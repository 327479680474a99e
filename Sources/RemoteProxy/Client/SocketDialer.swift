// Dialling for real: a URL to a stream over a socket, on the loop that all clients of the process share.

package import RPCSockets
import RPCWire

extension Dialer {
    package static func socket(_ url: String, _ timeout: Duration, _ limits: OutputLimits, on loop: EventLoop = .shared)
        -> Dialer
    {
        do throws(EndpointError) {
            let endpoint = try Endpoint(url)
            return Dialer(loop: loop, handoff: loop) { done in
                let connector = Connector.connect(to: endpoint, on: loop, timeout: timeout, limits: limits) { result in
                    done(result.map { $0 }.mapError { DialError("\($0)") })
                }
                return { connector.cancel() }
            }
        } catch {
            let fault = RPCError(.invalidAddress, error.description, outcome: .notExecuted, underlying: error)
            return Dialer(loop: loop, handoff: loop, fault: fault) { _ in {} }
        }
    }
}
