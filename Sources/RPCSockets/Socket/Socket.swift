// The descriptor of a stream socket, with the calls that can be made on it. It never blocks, and is closed exactly once.

import CSystem
import RPCWire
import Synchronization

package final class Socket: Sendable {
    /// -1 when closed.
    private let number: Atomic<Int32>

    init(descriptor: Int32) { number = Atomic(descriptor) }

    deinit { close() }

    /// For the loop and the writer only. They know that it is open, because only they close it.
    var descriptor: Int32 { number.load(ordering: .relaxed) }

    package func close() {
        let descriptor = number.exchange(-1, ordering: .acquiringAndReleasing)
        // Not repeated after EINTR: the number may already belong to another descriptor.
        if descriptor >= 0 { _ = CSystem.close(descriptor) }
    }

    static func make(for address: SocketAddress) throws(SystemError) -> Socket {
        let family = address.family
        let socket = Socket(descriptor: try SystemCall.make("socket") { system_socket(family) })
        // A listener's connections inherit this setting.
        if family != AF_UNIX, address.isLoopback { system_set_plain_congestion_control(socket.descriptor) }
        return socket
    }

    /// Makes two sockets that are connected to each other.
    package static func pair() throws(SystemError) -> (Socket, Socket) {
        let (first, second) = try SystemCall.pair("socketpair", system_socket_pair)
        return (Socket(descriptor: first), Socket(descriptor: second))
    }

    /// Sends two pieces, one after the other.
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

    /// Sets the options of a connected TCP socket. Other sockets ignore them.
    func prepareForMessages(_ limits: OutputLimits) {
        // Messages that are queued together are sent together, so the kernel need not wait for more.
        _ = system_set_no_delay(descriptor)
        guard limits.keepaliveInterval > .zero else { return }
        let (interval, timeout) = (limits.keepaliveInterval.milliseconds, limits.keepaliveTimeout.milliseconds)
        system_set_keepalive(descriptor, interval, timeout)
    }

    /// The error of an attempt to connect; nil if it has succeeded.
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

    /// The user who runs the peer; nil except for Unix-domain sockets.
    package var peerUser: UInt32? {
        guard localAddress?.family == AF_UNIX else { return nil }
        var user: UInt32 = 0
        return system_peer_user(descriptor, &user) == 0 ? user : nil
    }
}

extension Duration {
    /// As the kernel takes it: at least 1, at most an hour.
    fileprivate var milliseconds: Int32 { Int32(clamping: min(max(nanoseconds / 1_000_000, 1), 3_600_000)) }
}
