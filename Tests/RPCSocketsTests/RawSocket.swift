// What only tests do to a socket: be rude with it, and use it without a loop.

import CSystem
import Glibc
import RPCWire

@testable import RPCSockets

extension Socket {
    /// Closing then throws away what is queued and tells the peer with a reset.
    func resetOnClose() {
        var option = linger(l_onoff: 1, l_linger: 0)
        _ = setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }

    /// Sets how much the kernel takes before it says that it would block.
    func setSendBufferSize(_ bytes: Int) {
        _ = system_set_option(descriptor, SOL_SOCKET, SO_SNDBUF, Int32(clamping: bytes))
    }

    var isClosedOnExec: Bool { fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0 }

    /// By what the kernel decides how much may be on its way.
    var congestionControl: String {
        var (name, length) = ([UInt8](repeating: 0, count: 16), socklen_t(16))
        guard getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_CONGESTION, &name, &length) == 0 else { return "" }
        return String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
    }

    /// Waits until the socket is ready, at most so long.
    func wait(for events: Int32, milliseconds: Int32 = 60_000) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        return poll(&entry, 1, milliseconds) == 1
    }

    /// Connects and waits for it. Answers whether that worked.
    func connect(to endpoint: SocketEndpoint) -> Bool {
        guard let address = Resolver.literal(endpoint) else { return false }
        _ = address.withPointer { CSystem.connect(descriptor, $0, $1) }
        return wait(for: POLLOUT) && pendingError == nil
    }

    /// The next bytes; nil when the peer has closed or nothing comes.
    func read(milliseconds: Int32 = 60_000) -> String? {
        guard wait(for: POLLIN, milliseconds: milliseconds) else { return nil }
        return withUnsafeTemporaryAllocation(byteCount: 4_096, alignment: 1) { window in
            guard case .bytes(let count) = receive(window), count > 0 else { return nil }
            return String(decoding: window[..<count], as: UTF8.self)
        }
    }

    func write(_ text: String) {
        var text = text
        text.withUTF8 { _ = send(UnsafeRawBufferPointer($0)) }
    }
}
