// One descriptor of a stream socket, with the calls that can be made on it. Never blocks, closed exactly once.

import CSystem
import RPCWire
import Synchronization

package final class Socket: Sendable {
    /// -1 when closed.
    private let number: Atomic<Int32>

    init(descriptor: Int32) { number = Atomic(descriptor) }

    deinit { close() }

    /// For the loop and for the writer. Both know that it is open, because only they close it.
    var descriptor: Int32 { number.load(ordering: .relaxed) }

    package func close() {
        let descriptor = number.exchange(-1, ordering: .acquiringAndReleasing)
        // Not again after EINTR: the number may already belong to another descriptor.
        if descriptor >= 0 { _ = CSystem.close(descriptor) }
    }

    static func make(for address: SocketAddress) throws(SystemError) -> Socket {
        let family = address.family
        let socket = Socket(descriptor: try SystemCall.make("socket") { system_socket(family) })
        // A listener hands it on to what it accepts.
        if family != AF_UNIX, address.isLoopback { system_set_plain_congestion_control(socket.descriptor) }
        return socket
    }

    /// Two connected ends.
    package static func pair() throws(SystemError) -> (Socket, Socket) {
        let (first, second) = try SystemCall.pair("socketpair", system_socket_pair)
        return (Socket(descriptor: first), Socket(descriptor: second))
    }

    /// Sends two pieces, one behind the other.
    func send(
        _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0)
    ) -> Transfer {
        SystemCall.transfer("send") {
            system_send(descriptor, first.baseAddress, first.count, second.baseAddress, second.count)
        }
    }

    func receive(_ window: UnsafeMutableRawBufferPointer) -> Transfer {
        SystemCall.transfer("recv") { recv(descriptor, window.baseAddress, window.count, 0) }
    }

    func shutdownSending() { _ = shutdown(descriptor, Int32(SHUT_WR)) }

    /// The options of a connected TCP socket; other families ignore them.
    func prepareForMessages(_ limits: OutputLimits) {
        // Messages that are queued together are sent together; the kernel need not wait for more.
        _ = system_set_no_delay(descriptor)
        guard limits.keepaliveInterval > .zero else { return }
        let (interval, timeout) = (limits.keepaliveInterval.milliseconds, limits.keepaliveTimeout.milliseconds)
        system_set_keepalive(descriptor, interval, timeout)
    }

    /// What a connection attempt came to.
    var pendingError: SystemError? {
        let code = system_pending_error(descriptor)
        return code == 0 ? nil : SystemError("connect", code: code)
    }

    var localAddress: SocketAddress? {
        SocketAddress { address, length in getsockname(self.descriptor, address, length) }
    }

    var remoteAddress: SocketAddress? {
        SocketAddress { address, length in getpeername(self.descriptor, address, length) }
    }

    /// The user who runs the other end; only Unix-domain sockets know.
    package var peerUser: UInt32? {
        guard localAddress?.family == AF_UNIX else { return nil }
        var user: UInt32 = 0
        return system_peer_user(descriptor, &user) == 0 ? user : nil
    }
}

extension Duration {
    /// As the kernel counts: at least 1, at most an hour.
    fileprivate var milliseconds: Int32 { Int32(clamping: min(max(nanoseconds / 1_000_000, 1), 3_600_000)) }
}
