// A client that knows nothing but bytes: blocking sockets, three framings, no library of ours. What other programs may
// send is sent with it, and what they would see is read with it.

import CSystem
import Foundation
import RemoteProxy

enum WireFraming: Sendable, CaseIterable {
    case lines, headers, lengthPrefixed

    func frame(_ text: String) -> [UInt8] {
        switch self {
        case .lines: Array((text + "\n").utf8)
        case .headers: Array("Content-Length: \(text.utf8.count)\r\n\r\n\(text)".utf8)
        case .lengthPrefixed: withUnsafeBytes(of: UInt32(text.utf8.count).bigEndian, Array.init) + Array(text.utf8)
        }
    }
}

struct WireFault: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

final class RawClient {
    let framing: WireFraming
    private let descriptor: Int32
    private var received: [UInt8] = []
    /// Where in `received` the first unread byte stands.
    private var head = 0

    /// Connects to `unix:///PATH` or to a port of this machine. Everything that waits longer than a minute fails.
    init(_ url: Endpoint, _ framing: WireFraming = .lines) throws {
        self.framing = framing
        let url = "\(url)"
        let path = url.hasPrefix("unix://") ? url.dropFirst("unix://".count) : nil
        let family = path == nil ? AF_INET : AF_UNIX
        descriptor = system_socket(family)
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
        var patience = timeval(tv_sec: 60, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(descriptor, SOL_SOCKET, option, &patience, socklen_t(MemoryLayout<timeval>.size))
        }
        let connected: Int32
        if let path {
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
            connected = Self.connect(descriptor, address)
        } else {
            guard let port = url.split(separator: ":").last.flatMap({ UInt16($0) }) else { throw WireFault(url) }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = inet_addr("127.0.0.1")
            connected = Self.connect(descriptor, address)
        }
        guard connected == 0 else { throw WireFault("\(url): connect: errno \(errno)") }
    }

    private static func connect<Address>(_ descriptor: Int32, _ address: Address) -> Int32 {
        withUnsafeBytes(of: address) { bytes in
            let pointer = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress
            return pointer.map { CSystem.connect(descriptor, $0, socklen_t(bytes.count)) } ?? -1
        }
    }

    deinit { close(descriptor) }

    /// Sends bytes as they are. Not an error when the server has closed: what it has answered can still be read.
    func send(_ bytes: [UInt8]) {
        Self.send(bytes, to: descriptor)
    }

    private static func send(_ bytes: [UInt8], to descriptor: Int32) {
        bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let piece = UnsafeRawBufferPointer(rebasing: rest)
                let count = system_send(descriptor, piece.baseAddress, piece.count, nil, 0)
                guard count > 0 else { return }
                rest = rest.dropFirst(count)
            }
        }
    }

    func send(_ text: String) { send(Array(text.utf8)) }

    /// Sends while the caller goes on, for more than fits between the two ends.
    func sendBeside(_ bytes: [UInt8], thenFinish isAll: Bool = false) {
        let descriptor = descriptor
        Thread.detachNewThread {
            Self.send(bytes, to: descriptor)
            if isAll { shutdown(descriptor, Int32(SHUT_WR)) }
        }
    }

    func say(_ message: String) { send(framing.frame(message)) }

    /// Says no more, and can still hear.
    func finish() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// The next message; nil when the server has closed.
    func hear() throws -> String? {
        switch framing {
        case .lines:
            while true {
                if let end = received[head...].firstIndex(of: UInt8(ascii: "\n")) {
                    defer { head = end + 1 }
                    return String(decoding: received[head..<end], as: UTF8.self)
                }
                guard try fill() else { return nil }
            }
        case .lengthPrefixed:
            guard try fill(to: 4) else { return nil }
            let length = take(4).reduce(0) { $0 << 8 | Int($1) }
            guard try fill(to: length) else { throw WireFault("closed inside a frame") }
            return String(decoding: take(length), as: UTF8.self)
        case .headers:
            let name = "Content-Length: "
            guard try fill(to: name.utf8.count) else { return nil }
            guard String(decoding: take(name.utf8.count), as: UTF8.self) == name else { throw WireFault("no length") }
            var digits = ""
            while try fill(to: 1), (0x30...0x39).contains(received[head]) {
                digits += String(decoding: take(1), as: UTF8.self)
            }
            guard try fill(to: 4), String(decoding: take(4), as: UTF8.self) == "\r\n\r\n", let length = Int(digits)
            else {
                throw WireFault("the header does not end as it must")
            }
            guard try fill(to: length) else { throw WireFault("closed inside a frame") }
            return String(decoding: take(length), as: UTF8.self)
        }
    }

    /// The next bytes as they are, so many of them.
    func hear(bytes count: Int) throws -> String {
        guard try fill(to: count) else { throw WireFault("closed after \(received.count - head) of \(count) bytes") }
        return String(decoding: take(count), as: UTF8.self)
    }

    /// Says something and hears the answer.
    func ask(_ message: String) throws -> String? {
        say(message)
        return try hear()
    }

    /// Everything until the server closes.
    func rest() throws -> String {
        while try fill() {}
        return String(decoding: take(received.count - head), as: UTF8.self)
    }

    private func take(_ count: Int) -> [UInt8] {
        defer { head += count }
        return Array(received[head..<head + count])
    }

    private func fill(to count: Int) throws -> Bool {
        while received.count - head < count { guard try fill() else { return false } }
        return true
    }

    /// False at the end, also when the server has reset the connection.
    private func fill() throws -> Bool {
        var window = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &window, window.count, 0)
        if count < 0, errno == EAGAIN { throw WireFault("nothing came for a minute") }
        guard count > 0 else { return false }
        received.removeFirst(head)
        head = 0
        received += window[..<count]
        return true
    }
}

/// Looks again and again, on a thread that may block. Fails after a minute, as all that waits here.
func untilSeen(_ condition: () -> Bool) throws {
    let end = ContinuousClock.now + .seconds(60)
    while !condition() {
        guard ContinuousClock.now < end else { throw WireFault("it was not seen for a minute") }
        sched_yield()
    }
}
