// The channel of a child process: that of its socket, and the reason of its end.

package import RPCWire

/// Passes everything on between the socket of a child and the receiver. Only the end is changed: it waits a moment for that of the
/// child, so that it can say how the child has ended. The end of the channel is also the end of the child.
package final class SubprocessChannel: ByteChannel {
    private struct State {
        var receiver: (any ByteReceiver)?
        /// Waits for the child. Nil before the socket has ended, and when the receiver has been told.
        var patience: (any LoopTimer)?
    }

    /// How long the end of the channel waits for that of the child.
    private static let patience = Duration.seconds(1)

    private let inside: SocketChannel
    private let process: Subprocess
    private let grace: Duration
    private let bound: LoopBound<State>

    private init(_ inside: SocketChannel, _ process: Subprocess, _ grace: Duration) {
        (self.inside, self.process, self.grace) = (inside, process, grace)
        bound = LoopBound(State(), of: inside.eventLoop)
    }

    /// Starts a program. Calls `completion` once, on the loop, and never before returning.
    /// - Parameters:
    ///   - grace: how long the child has to end when its input has ended. Then it gets SIGTERM, and a second later SIGKILL.
    ///   - line: is called with each line on its standard error, on a thread of its own.
    /// - Returns: gives the attempt up. A child that starts nevertheless is ended.
    package static func start(
        _ launch: ProgramLaunch, on loop: EventLoop, grace: Duration, limits: OutputLimits,
        line: @escaping @Sendable (String) -> Void,
        completion: @escaping @Sendable (Result<SubprocessChannel, SetupError>) -> Void
    ) -> @Sendable () -> Void {
        let isGivenUp = Lock(false)
        Subprocess.start(launch, line: line) { started in
            let result = started.map { process, stream in
                let inside = SocketChannel(stream, on: loop, remoteAddress: launch.place, limits: limits)
                return SubprocessChannel(inside, process, grace)
            }
            loop.submit {
                guard isGivenUp.withLock({ $0 }) else { return completion(result) }
                if case .success(let channel) = result { channel.abort() }
            }
        }
        return { isGivenUp.withLock { $0 = true } }
    }

    package var loop: any Loop { inside.loop }
    package var remoteAddress: String { inside.remoteAddress }
    package var peer: PeerProof? { inside.peer }
    package var isReading: Bool { inside.isReading }
    package var waiting: Int { inside.waiting }
    package var isCrowded: Bool { inside.isCrowded }

    /// The number of the child; for tests.
    package var identifier: Int32 { process.identifier }

    package func open(_ receiver: any ByteReceiver) {
        inside.eventLoop.submit { [self] in
            bound.value.receiver = receiver
            inside.open(self)
        }
    }

    @discardableResult
    package func write(_ fill: (inout SendBuffer, UInt64) -> Void) -> UInt64 { inside.write(fill) }
    package func flush(_ hint: FlushHint) { inside.flush(hint) }
    package func resumeReading() { inside.resumeReading() }
    package func releaseRoom() { inside.releaseRoom() }

    package func close() {
        inside.close()
        process.end(after: grace, on: loop)
    }

    package func abort() {
        inside.abort()
        process.end(after: grace, on: loop)
    }

    /// A client stays on its loop.
    package func moved(to loop: any Loop) -> (any ByteChannel)? { nil }
}

extension SubprocessChannel: ByteReceiver {
    package func received(_ bytes: Bytes) {
        // The receiver is copied first, as in `SocketChannel`.
        let receiver = bound.value.receiver
        receiver?.received(bytes)
    }

    package var wantsMore: Bool {
        let receiver = bound.value.receiver
        return receiver?.wantsMore ?? true
    }

    package func outputChanged() {
        let receiver = bound.value.receiver
        receiver?.outputChanged()
    }

    package func pausedReading() {
        let receiver = bound.value.receiver
        receiver?.pausedReading()
    }

    package func peerFinished() -> Bool {
        let receiver = bound.value.receiver
        return receiver?.peerFinished() ?? false
    }

    package func ended(_ end: ChannelEnd, sentUpTo sent: UInt64) {
        process.end(after: grace, on: loop)
        let due = loop.now.advanced(by: Self.patience)
        bound.value.patience = loop.schedule(at: due) { [self] in report(end, sent) }
        process.isSettled.whenDone { [self] in
            loop.submit { [self] in report(end, sent) }
        }
    }

    private func report(_ end: ChannelEnd, _ sent: UInt64) {
        guard let timer = bound.value.patience.take(), let receiver = bound.value.receiver.take() else { return }
        timer.cancel()
        receiver.ended(reason(of: end), sentUpTo: sent)
    }

    private func reason(of end: ChannelEnd) -> ChannelEnd {
        switch end {
        case .local, .overrun, .refused, .broken: end
        case .remote: .failed(process.ending ?? "\(process) has closed its standard output")
        case .failed(let why): .failed(process.ending ?? why)
        }
    }
}
