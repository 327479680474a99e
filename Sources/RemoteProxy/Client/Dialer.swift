// Connects a client to its server: over a socket, or in the way of a `Transport`.

package import RPCSockets
package import RPCWire

package struct Dialer: Sendable {
    package let loop: any Loop
    /// Gives the loop another thread when a caller's code blocks the loop's thread.
    let handoff: (any Handoff)?
    /// The reason why dialling can never succeed; nil if it can.
    let fault: RPCError?
    /// Dials, and calls `done` once, on the loop. The returned closure gives the attempt up; then `done` is not called any
    /// more.
    package let dial:
        @Sendable (_ done: @escaping @Sendable (Result<any ByteChannel, SetupError>) -> Void) -> @Sendable () -> Void

    package init(
        loop: any Loop, handoff: (any Handoff)? = nil, fault: RPCError? = nil,
        dial:
            @escaping @Sendable (@escaping @Sendable (Result<any ByteChannel, SetupError>) -> Void)
            -> @Sendable () -> Void
    ) {
        self.loop = loop
        self.handoff = handoff
        self.fault = fault
        self.dial = dial
    }
}

extension Dialer {
    package static func to(
        _ endpoint: Endpoint, _ configuration: RPCClient.Configuration, on loop: EventLoop = .shared
    ) -> Dialer {
        do throws(SetupError) {
            let destination = try endpoint.destination()
            let tls = ClientTLS(destination, configuration.tls)
            return Dialer(loop: loop, handoff: loop) { done in
                let shaking = Lock<TLSChannel?>(nil)
                let connector = Connector.connect(
                    to: destination.socket, on: loop, timeout: configuration.connectTimeout,
                    limits: configuration.limits.output
                ) { result in
                    switch result {
                    case .failure(let error): done(.failure(error))
                    case .success(let channel):
                        if let tls { tls.wrap(channel, shaking, done) } else { done(.success(channel)) }
                    }
                }
                return {
                    connector.cancel()
                    shaking.withLock { $0.take() }?.abort()
                }
            }
        } catch {
            let fault = RPCError(.invalidAddress, error.description, outcome: .notExecuted, underlying: error)
            return Dialer(loop: loop, handoff: loop, fault: fault) { _ in {} }
        }
    }
}
