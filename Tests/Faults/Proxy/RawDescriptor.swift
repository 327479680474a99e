// A stream socket of this machine without any of our own code around it: what the tools of the tests are made of.

import CSystem
import Foundation
package import RemoteProxy

/// Why a tool could not do its work.
package struct FaultToolError: Error, CustomStringConvertible {
    package let description: String
    package init(_ description: String) { self.description = description }
}

package final class RawDescriptor: Sendable {
    package let number: Int32

    package init(_ number: Int32) { self.number = number }

    deinit { close(number) }

    /// Listens on a free port of loopback.
    package static func listening() throws -> (RawDescriptor, url: Endpoint) {
        let listener = made(system_socket(AF_INET))
        var address = loopback(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withGeneric(&address) { bind(listener.number, $0, length) == 0 }
        guard isBound, listen(listener.number, 1_024) == 0 else { throw FaultToolError("listen: errno \(errno)") }
        _ = withGeneric(&address) { getsockname(listener.number, $0, &length) }
        return (listener, try Endpoint("tcp://127.0.0.1:\(UInt16(bigEndian: address.sin_port))"))
    }

    /// Connects to `unix:///PATH` or to a port of this machine.
    package static func connected(to url: Endpoint) throws -> RawDescriptor {
        let url = "\(url)"
        let isConnected: Bool
        let descriptor: RawDescriptor
        if url.hasPrefix("unix://") {
            descriptor = made(system_socket(AF_UNIX))
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: url.dropFirst(7).utf8) }
            isConnected = withGeneric(&address) {
                connect(descriptor.number, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        } else {
            guard let port = url.split(separator: ":").last.flatMap({ UInt16($0) }) else { throw FaultToolError(url) }
            descriptor = made(system_socket(AF_INET))
            var address = loopback(port)
            isConnected = withGeneric(&address) {
                connect(descriptor.number, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else { throw FaultToolError("\(url): connect: errno \(errno)") }
        return descriptor
    }

    /// The next connection; nil when there is none, or the listener has been shut.
    package func accepted() -> RawDescriptor? {
        let connection = system_accept(number, nil, nil)
        return connection >= 0 ? Self.made(connection) : nil
    }

    /// Waits for nothing, and holds nothing back.
    package func prepare() {
        _ = fcntl(number, F_SETFL, fcntl(number, F_GETFL) | O_NONBLOCK)
        var on: Int32 = 1
        setsockopt(number, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    package enum Received {
        case bytes([UInt8])
        case end
        case nothing
    }

    package func receive(_ most: Int = 65_536) -> Received {
        var window = [UInt8](repeating: 0, count: most)
        let count = recv(number, &window, most, 0)
        if count < 0, errno == EAGAIN || errno == EINTR { return .nothing }
        return count > 0 ? .bytes(Array(window[..<count])) : .end
    }

    /// How many bytes the kernel took; nil when the other end has gone.
    package func send(_ bytes: ArraySlice<UInt8>) -> Int? {
        let count = bytes.withUnsafeBytes { system_send(number, $0.baseAddress, $0.count, nil, 0) }
        if count < 0 { return errno == EAGAIN || errno == EINTR ? 0 : nil }
        return count
    }

    /// Says no more, and can still hear.
    package func finishSending() { shutdown(number, Int32(SHUT_WR)) }

    package func shut() { shutdown(number, Int32(SHUT_RDWR)) }

    /// When it is closed, what is queued is thrown away and the other end gets a reset.
    package func resetOnClose() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(number, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }

    /// Goes without a word, as a machine does that has lost its power: no end, no reset, and no answer from now on.
    /// Answers whether the system lets us; it wants to be asked by root.
    package func vanish() -> Bool {
        // TCP_REPAIR, of which the C library's header may not know: a socket under repair is closed silently.
        var on: Int32 = 1
        guard setsockopt(number, Int32(IPPROTO_TCP), 19, &on, socklen_t(MemoryLayout<Int32>.size)) == 0 else {
            return false
        }
        // The number stays taken until the end of this object, and stands for nothing.
        let nothing = open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer { close(nothing) }
        return nothing >= 0 && dup2(nothing, number) >= 0
    }

    /// A socket that was closed on exec from the beginning, or a child started in between would keep the connection open. It
    /// waits, until it is prepared.
    private static func made(_ number: Int32) -> RawDescriptor {
        _ = fcntl(number, F_SETFL, fcntl(number, F_GETFL) & ~O_NONBLOCK)
        return RawDescriptor(number)
    }

    private static func loopback(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        return address
    }

    private static func withGeneric<Address, Result>(
        _ address: inout Address, _ body: (UnsafeMutablePointer<sockaddr>) -> Result
    ) -> Result {
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0) }
        }
    }
}
