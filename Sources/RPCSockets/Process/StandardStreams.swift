// The standard streams of this process as a connection: for a server that another program has started, and for a program that
// only passes bytes on to a server.

import CSystem
import RPCWire

/// Standard input and output, taken from the rest of the process. What other code prints goes to standard error from then on.
package final class StandardStreams: Sendable {
    /// How logs and callers are told of the peer.
    package static let address = "standard streams"

    /// Taken once, since the first look changes them.
    private static let taken = Result { () throws(SetupError) in try StandardStreams() }

    private let streams: Lock<(input: FileDescriptor, output: FileDescriptor)?>
    private let relay = Lock<Relay?>(nil)

    /// Keeps the output of other code from the two streams. Does nothing the second time.
    package static func protect() throws(SetupError) { _ = try taken.get() }

    /// The streams of this process.
    /// - Throws: if one of the two is closed.
    package static func claim() throws(SetupError) -> StandardStreams { try taken.get() }

    private init() throws(SetupError) {
        // A number that was free may have become that of a descriptor of the library.
        for (number, name) in [(Int32(0), "input"), (1, "output")] where system_is_inherited(number) == 0 {
            throw SetupError("standard \(name) is closed")
        }
        do throws(SystemError) {
            let (input, output) = (try FileDescriptor(copying: 0), try FileDescriptor(copying: 1))
            let nothing = try FileDescriptor("/dev/null", O_RDWR)
            try SystemCall.make("dup2") { dup2(nothing.number, 0) }
            // A log would be read as messages if it had the same reader.
            let hasErrors = system_is_inherited(2) != 0
            if hasErrors, output.isSameChannel(as: 2) { try SystemCall.make("dup2") { dup2(nothing.number, 2) } }
            try SystemCall.make("dup2") { dup2(hasErrors ? 2 : nothing.number, 1) }
            streams = Lock((input, output))
        } catch {
            throw SetupError("standard input and output cannot be used: \(error)")
        }
    }

    /// Takes the streams out. Only one connection can have them.
    private func take() throws(SetupError) -> (input: FileDescriptor, output: FileDescriptor) {
        guard let streams = streams.withLock({ $0.take() }) else {
            throw SetupError("standard input and output serve a connection already")
        }
        return streams
    }

    /// The connection, on a server's loop. There is only one. Its peer is the user of this process, unless the streams are a socket that says more.
    package func channel(on loop: EventLoop, limits: OutputLimits) throws(SetupError) -> SocketChannel {
        let (input, output) = try take()
        let own = PeerProof.user(getuid())
        do throws(SystemError) {
            if output.isSameChannel(as: input.number), input.isSocket {
                let copy = try withExtendedLifetime(input) { () throws(SystemError) in
                    try SystemCall.make("fcntl") { system_duplicate(input.number) }
                }
                let socket = Socket(descriptor: copy)
                try SystemCall.make("fcntl") { system_set_waiting(socket.descriptor, 0) }
                // A pair of sockets, which has no address, was made by the program that has started this one.
                let isLocal = socket.localAddress?.family == AF_UNIX
                return SocketChannel(
                    socket, on: loop, remoteAddress: Self.address, limits: limits, pausesReading: true,
                    peer: isLocal ? socket.peerUser.map { .user($0) } ?? own : nil)
            }
            let (near, far) = try Socket.pair()
            let relay = try Relay(from: input, to: output, far)
            self.relay.withLock { $0 = relay }
            return SocketChannel(
                near, on: loop, remoteAddress: Self.address, limits: limits, pausesReading: true, peer: own)
        } catch {
            throw SetupError("standard input and output cannot be used: \(error)")
        }
    }

    /// Returns when all that the connection has sent is written, or cannot be, or after this time.
    package func finish(within time: Duration) async {
        guard let relay = relay.withLock({ $0 }) else { return }
        await Self.wait(for: relay, within: time)
    }

    /// Copies between the streams and a server that listens there, until the server has ended the connection or the output has no
    /// reader. The end of the input is passed on.
    /// - Throws: why the server cannot be reached within this time.
    package func attach(to endpoint: SocketEndpoint, timeout: Duration) async throws(SetupError) {
        let found = await withCheckedContinuation { continuation in
            Connector.connect(to: endpoint, on: .shared, timeout: timeout) { continuation.resume(returning: $0) }
        }
        let socket = try found.get().socket
        let (input, output) = try take()
        do throws(SystemError) {
            await Self.wait(for: try Relay(from: input, to: output, socket), within: nil)
        } catch {
            throw SetupError("cannot copy to \(endpoint): \(error)")
        }
    }

    private static func wait(for relay: Relay, within time: Duration?) async {
        await withCheckedContinuation { continuation in
            let waiting = Lock<CheckedContinuation<Void, Never>?>(continuation)
            let resume: @Sendable () -> Void = { waiting.withLock { $0.take() }?.resume() }
            let loop = EventLoop.shared
            if let time { loop.schedule(at: loop.now.advanced(by: time), resume) }
            relay.isOutputOver.whenDone(resume)
        }
    }
}

extension FileDescriptor {
    /// Whether both are the same pipe, or the same socket.
    fileprivate func isSameChannel(as other: Int32) -> Bool {
        var (here, there) = (stat(), stat())
        guard fstat(number, &here) == 0, fstat(other, &there) == 0 else { return false }
        let isChannel = [mode_t(S_IFSOCK), mode_t(S_IFIFO)].contains(here.st_mode & mode_t(S_IFMT))
        return isChannel && here.st_dev == there.st_dev && here.st_ino == there.st_ino
    }

    fileprivate var isSocket: Bool { mode & mode_t(S_IFMT) == mode_t(S_IFSOCK) }
}
