// The certificate of a server while it runs, and the handshakes with it.

import RPCSockets
import RPCWire
import RemoteProxy

final class ServerTLS: Sendable {
    /// What a handshake counts for among the bytes that are kept for all peers. OpenSSL takes as many for a hello as the peer says
    /// that it will have: 158 KiB were measured for one that says 128.
    private static let handshakeBytes = 160 << 10
    /// How often the files are looked at.
    private static let interval = Duration.seconds(60)

    private struct State {
        var context: TLSContext
        /// Of the contents of the files that the context was made from. Bad ones have another, so they are read at each look.
        var stamp: Int?
        /// Why the files could not be used when they were read last.
        var fault: String?
        var lines: [ObjectIdentifier: HandshakeLine] = [:]
        var timer: (any LoopTimer)?
        /// Whether the files are not looked at any more.
        var isStopped = false
    }

    private let settings: TLS
    private let patience: Duration
    private let traffic: Traffic
    private let log: @Sendable (LogRecord) -> Void
    private let clock: any Loop
    private let state: Lock<State>

    /// - Parameters:
    ///   - patience: how long a handshake may take.
    ///   - clock: says when to look at the files. It is also where they are read then.
    /// - Throws: what is wrong with the files, or that there is no library.
    init(
        _ settings: TLS, patience: Duration, traffic: Traffic, clock: any Loop,
        log: @escaping @Sendable (LogRecord) -> Void
    ) throws(SetupError) {
        (self.settings, self.patience, self.traffic) = (settings, patience, traffic)
        (self.clock, self.log) = (clock, log)
        let (context, stamp) = try Self.read(settings)
        state = Lock(State(context: context, stamp: stamp))
        watch()
    }

    private static func read(_ settings: TLS) throws(SetupError) -> (TLSContext, stamp: Int?) {
        let files = try settings.certificate.files()
        // Before the files are read, so that a change meanwhile is seen later.
        let stamp = Self.stamp(files, settings)
        return (try TLSContext(files, clients: settings.clients.authorities), stamp)
    }

    private static func stamp(_ files: CertificateFiles, _ settings: TLS) -> Int? {
        var hasher = Hasher()
        for path in [files.chain, files.key, settings.clients.authorities].compactMap({ $0 }) {
            do throws(SystemError) { hasher.combine(try ReplaceableFile(path).read(atMost: 1 << 20)) } catch {
                return nil
            }
        }
        return hasher.finalize()
    }

    var daysLeft: Int { state.withLock { $0.context }.daysLeft }
    /// The pin for the addresses that clients are told; nil if an authority has signed the certificate.
    var pin: KeyPin? { settings.certificate.isSelfSigned ? state.withLock { $0.context }.ownPin : nil }

    // MARK: reading the files again

    /// Reads the files again, for later connections. Keeps what it has if they cannot be used.
    /// - Parameter known: a reason that the log has already.
    func reload(unless known: String? = nil) {
        do throws(SetupError) {
            let (context, stamp) = try Self.read(settings)
            state.withLock { ($0.context, $0.stamp, $0.fault) = (context, stamp, nil) }
            log(LogRecord(.notice, "read the certificate again, which is valid for \(context.daysLeft) days"))
        } catch {
            state.withLock { $0.fault = error.description }
            if error.description != known {
                log(LogRecord(.error, "kept the certificate as it was: \(error)"))
            }
        }
    }

    private func watch() {
        let timer = clock.schedule(at: clock.now.advanced(by: Self.interval)) { [weak self] in
            self?.look()
            self?.watch()
        }
        let isStopped = state.withLock { state in
            if !state.isStopped { state.timer = timer }
            return state.isStopped
        }
        if isStopped { timer.cancel() }
    }

    private func look() {
        let (stamp, fault) = state.withLock { ($0.stamp, $0.fault) }
        // After a fault they are read even if they are those in use, so that the log says that the fault is over.
        if fault == nil, let files = try? settings.certificate.files(), Self.stamp(files, settings) == stamp { return }
        reload(unless: fault)
    }

    func stop() {
        let timer = state.withLock { state in
            state.isStopped = true
            return state.timer.take()
        }
        timer?.cancel()
    }

    // MARK: connections

    /// The channel of an accepted connection.
    func wrap(_ inside: any ByteChannel, admitsPlaintext: Bool) -> any ByteChannel {
        let loop = inside.loop
        let (context, line) = state.withLock { state in
            let line = state.lines[ObjectIdentifier(loop)] ?? HandshakeLine(of: loop)
            state.lines[ObjectIdentifier(loop)] = line
            return (state.context, line)
        }
        // Of a handshake that has begun, until it ends.
        let bytes = Lock(0)
        let acceptance = TLSChannel.Acceptance(
            context, admitsPlaintext: admitsPlaintext, line: line, patience: patience
        ) { [traffic] in
            // Peers that are not known yet take nothing from half of the bytes.
            if traffic.isHalfFull { return false }
            bytes.withLock { $0 = Self.handshakeBytes }
            traffic.keeps(Self.handshakeBytes)
            return true
        }
        let address = inside.remoteAddress
        return TLSChannel(accepting: inside, acceptance) { [self] handshake in
            traffic.keeps(-bytes.withLock { exchange(&$0, with: 0) })
            ended(handshake, from: address)
        }
    }

    private func ended(_ handshake: TLSChannel.Handshake, from address: String) {
        let (why, limit): (String, Limit?)
        switch handshake {
        case .finished(let wasResumed):
            return traffic.count { rare in
                rare.handshakes += 1
                if wasResumed { rare.resumptions += 1 }
            }
        case .failed(let fault, _): (why, limit) = (fault, nil)
        case .late: (why, limit) = ("the handshake took more than \(patience) (loginTime)", .loginTime)
        case .crowdedOut:
            (why, limit) = (
                "there is no room for another handshake (half of maximumBytesInAll)", .maximumBytesInAll
            )
        }
        traffic.count { $0.failedHandshakes += 1 }
        if let limit { traffic.overran(limit) }
        log(LogRecord(.warning, "closed \(address): TLS: \(why)", peer: address))
    }
}
