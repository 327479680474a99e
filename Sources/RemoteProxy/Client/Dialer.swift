// Connects a client to its server: over a socket, or in tests over memory.

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
        @Sendable (_ done: @escaping @Sendable (Result<any ByteChannel, DialError>) -> Void) -> @Sendable () -> Void

    package init(
        loop: any Loop, handoff: (any Handoff)? = nil, fault: RPCError? = nil,
        dial:
            @escaping @Sendable (@escaping @Sendable (Result<any ByteChannel, DialError>) -> Void)
            -> @Sendable () -> Void
    ) {
        self.loop = loop
        self.handoff = handoff
        self.fault = fault
        self.dial = dial
    }
}

/// Why an attempt to connect failed, in words for people.
package struct DialError: Error, CustomStringConvertible {
    package let description: String
    /// Whether the next attempt would fail in the same way.
    let isLasting: Bool

    package init(_ description: String, isLasting: Bool = false) {
        self.description = description
        self.isLasting = isLasting
    }
}

extension Dialer {
    package static func socket(_ url: String, _ timeout: Duration, _ limits: OutputLimits, on loop: EventLoop = .shared)
        -> Dialer
    {
        do throws(SetupError) {
            let endpoint = try Endpoint(url)
            return Dialer(loop: loop, handoff: loop) { done in
                let connector = Connector.connect(to: endpoint, on: loop, timeout: timeout, limits: limits) { result in
                    done(result.map { $0 }.mapError { DialError($0.description, isLasting: $0.isLasting) })
                }
                return { connector.cancel() }
            }
        } catch {
            let fault = RPCError(.invalidAddress, error.description, outcome: .notExecuted, underlying: error)
            return Dialer(loop: loop, handoff: loop, fault: fault) { _ in {} }
        }
    }
}
