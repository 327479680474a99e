// Connects a client to its server: over a socket, as a child process, or over memory.

package import RPCSockets
package import RPCWire

package struct Dialer: Sendable {
    package let loop: any Loop
    /// Whether each connection is a program that runs for it alone.
    let startsProgram: Bool
    /// Gives the loop another thread when a caller's code blocks the loop's thread.
    let handoff: (any Handoff)?
    /// The reason why dialling can never succeed; nil if it can.
    let fault: RPCError?
    /// Dials, and calls `done` once, on the loop. The returned closure gives the attempt up; then `done` is not called any
    /// more.
    package let dial:
        @Sendable (_ done: @escaping @Sendable (Result<any ByteChannel, SetupError>) -> Void) -> @Sendable () -> Void

    package init(
        loop: any Loop, handoff: (any Handoff)? = nil, startsProgram: Bool = false, fault: RPCError? = nil,
        dial:
            @escaping @Sendable (@escaping @Sendable (Result<any ByteChannel, SetupError>) -> Void)
            -> @Sendable () -> Void
    ) {
        self.loop = loop
        self.startsProgram = startsProgram
        self.handoff = handoff
        self.fault = fault
        self.dial = dial
    }
}

extension Dialer {
    /// Starts the server as a child process.
    static func process(
        _ launch: ProgramLaunch, _ configuration: RPCClient.Configuration, on loop: EventLoop = .shared
    ) -> Dialer {
        // Apart from the client's own records, which a child that writes much must not crowd out.
        let log = LogLimiter(most: configuration.limits.maximumLogLines, on: loop, write: configuration.log)
        return Dialer(loop: loop, handoff: loop, startsProgram: true) { done in
            SubprocessChannel.start(
                launch, on: loop, grace: configuration.postGrace, limits: configuration.limits.output,
                line: { log.log(LogRecord(.notice, "\(launch.name): \($0)", peer: launch.place)) },
                completion: { done($0.map { $0 }) })
        }
    }

    /// Reaches the server in the way that its address says.
    package static func to(
        _ endpoint: Endpoint, _ configuration: RPCClient.Configuration, on loop: EventLoop = .shared
    ) -> Dialer {
        do throws(SetupError) {
            switch try endpoint.destination() {
            case .program(let launch): return process(launch, configuration, on: loop)
            case .plain(let socket): return dialling(socket, nil, configuration, on: loop)
            case .tls(let socket, let pin):
                let tls = ClientTLS(socket, pin, configuration.tls)
                return dialling(socket, tls, configuration, on: loop)
            }
        } catch {
            let fault = RPCError(.invalidAddress, error.description, outcome: .notExecuted, underlying: error)
            return Dialer(loop: loop, handoff: loop, fault: fault) { _ in {} }
        }
    }

    private static func dialling(
        _ endpoint: SocketEndpoint, _ tls: ClientTLS?, _ configuration: RPCClient.Configuration, on loop: EventLoop
    ) -> Dialer {
        Dialer(loop: loop, handoff: loop) { done in
            let shaking = Lock<TLSChannel?>(nil)
            let connector = Connector.connect(
                to: endpoint, on: loop, timeout: configuration.connectTimeout, limits: configuration.limits.output
            ) { result in
                switch result {
                case .failure(let error): done(.failure(error))
                case .success(let channel):
                    if let tls { tls.wrap(channel, shaking, done) } else { done(.success(channel)) }
                }
            }
            return {
                connector.cancel()
                // On the loop, behind the end of the connector: until then a handshake may begin.
                loop.submit { shaking.withLock { $0.take() }?.abort() }
            }
        }
    }
}
