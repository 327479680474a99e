// How a client gets a stream to its server: over a socket, or in tests over memory.

package import RPCSockets
package import RPCWire

package struct Dialer: Sendable {
    package let loop: any Loop
    /// Has that loop go on with another thread while code that is not the library's keeps its own.
    let handoff: (any Handoff)?
    /// Why dialling can never succeed, if so.
    let fault: RPCError?
    /// Calls back once, on the loop, unless the returned closure was called before: it gives the attempt up.
    let dial:
        @Sendable (_ done: @escaping @Sendable (Result<any ByteStream, DialError>) -> Void) -> @Sendable () -> Void

    package init(
        loop: any Loop, handoff: (any Handoff)? = nil, fault: RPCError? = nil,
        dial:
            @escaping @Sendable (@escaping @Sendable (Result<any ByteStream, DialError>) -> Void)
            -> @Sendable () -> Void
    ) {
        self.loop = loop
        self.handoff = handoff
        self.fault = fault
        self.dial = dial
    }
}

/// Why an attempt failed, in words for people.
package struct DialError: Error, CustomStringConvertible {
    package let description: String
    package init(_ description: String) { self.description = description }
}

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
