// A connection that sends any bytes and reads messages in the framing it has chosen: for what no client of ours does.
// Blocks, so it belongs on a thread of its own; closed at the last mention of it.

import BenchSystem
import Glibc
import RawEcho
import RemoteProxy

final class RawConnection: @unchecked Sendable {
    enum Framing: CaseIterable { case lines, headers, lengthPrefixed }

    private let descriptor: Int32
    private let framing: Framing
    private var received: [UInt8] = []
    private var head = 0

    init(to url: Endpoint, _ framing: Framing = .lines) throws(BenchFailure) {
        guard let port = "\(url)".split(separator: ":").last.flatMap({ UInt16($0) }) else {
            throw BenchFailure("\(url)")
        }
        self.framing = framing
        descriptor = raw_connect(port)
    }

    deinit { close(descriptor) }

    /// The end is told by a reset instead of in good order.
    func endsWithReset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
    }

    /// - Parameter bytes: how much the kernel keeps of what has come and has not been read.
    func setReceiveBuffer(_ bytes: Int32) {
        var bytes = bytes
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &bytes, socklen_t(MemoryLayout<Int32>.size))
    }

    func frame(_ text: String) -> [UInt8] {
        switch framing {
        case .lines: Array((text + "\n").utf8)
        case .headers: Array("Content-Length: \(text.utf8.count)\r\n\r\n\(text)".utf8)
        case .lengthPrefixed: withUnsafeBytes(of: UInt32(text.utf8.count).bigEndian, Array.init) + Array(text.utf8)
        }
    }

    func send(_ bytes: [UInt8]) throws(BenchFailure) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { bytes in
                Glibc.send(
                    descriptor, bytes.baseAddress?.advanced(by: sent), bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw BenchFailure("cannot send: error \(errno)") }
            sent += count
        }
    }

    func ask(_ text: String) throws(BenchFailure) -> String {
        try send(frame(text))
        return try hear()
    }

    /// The next message.
    func hear() throws(BenchFailure) -> String {
        switch framing {
        case .lines:
            let end = try find([0x0A])
            defer { head = end + 1 }
            return text(head..<end)
        case .headers:
            let end = try find(Array("\r\n\r\n".utf8))
            let length = text(head..<end).split(separator: " ").last.flatMap { Int($0) }
            guard let length else { throw BenchFailure("no length") }
            head = end + 4
            return try take(length)
        case .lengthPrefixed:
            while received.count - head < 4 { try receive() }
            let length = received[head..<head + 4].reduce(0) { $0 << 8 | Int($1) }
            head += 4
            return try take(length)
        }
    }

    /// Reads at most so many bytes and forgets them. Zero at the end.
    func skip(_ most: Int) -> Int {
        var bytes = [UInt8](repeating: 0, count: most)
        return recv(descriptor, &bytes, most, 0)
    }

    private func text(_ range: Range<Int>) -> String { String(decoding: received[range], as: UTF8.self) }

    private func take(_ count: Int) throws(BenchFailure) -> String {
        while received.count - head < count { try receive() }
        defer { head += count }
        return text(head..<head + count)
    }

    private func find(_ mark: [UInt8]) throws(BenchFailure) -> Int {
        var from = head
        while true {
            var index = from
            while index + mark.count <= received.count {
                if received[index] == mark[0], Array(received[index..<index + mark.count]) == mark { return index }
                index += 1
            }
            let seen = max(head, index)
            let before = head
            try receive()
            from = seen - (before - head)
        }
    }

    private func receive() throws(BenchFailure) {
        if head > 1 << 20 {
            received.removeFirst(head)
            head = 0
        }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        guard count > 0 else { throw BenchFailure("closed by the server: \(count) \(errno)") }
        received += bytes[..<count]
    }
}

/// A call as it stands on the wire.
func request(_ method: String, _ params: String, id: Int) -> String {
    #"{"jsonrpc":"2.0","method":"\#(method)","params":\#(params),"id":\#(id)}"#
}

/// The number that an answer is to.
func identifier(of answer: String) -> Int? {
    answer.firstRange(of: #""id":"#).flatMap { Int(answer[$0.upperBound...].prefix { $0.isNumber }) }
}
