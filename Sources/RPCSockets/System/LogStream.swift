// Writes lines to a program's standard streams, and to logs that may have no reader.

import CSystem

package enum StandardStream: Int32, Sendable {
    case output = 1
    case error = 2

    /// Writes the line and its end in one call, so that lines of several threads do not mix. Blocks if it must; what
    /// cannot be written is dropped, because there is no place left to report it.
    package func write(line: String) { writeLine(line, to: rawValue, waits: true) }

    /// Whether the stream is a terminal.
    package var isTerminal: Bool { isatty(rawValue) == 1 }
}

/// A log that may have no reader. A full pipe would block the writing thread, perhaps that of all connections. So lines without
/// room are left out; their number is logged when there is room again.
package final class LogStream: Sendable {
    package static let error = LogStream(StandardStream.error.rawValue)

    private let descriptor: Int32
    /// How many lines have found no room.
    private let leftOut = Lock(0)

    package init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// Never waits for a reader.
    package func write(line: String) {
        leftOut.withLock { leftOut in
            if leftOut > 0 {
                let lines = leftOut == 1 ? "line was" : "lines were"
                let report = "\(leftOut) \(lines) left out: the log had no reader"
                guard writeLine(report, to: descriptor, waits: false) else { return leftOut += 1 }
                leftOut = 0
            }
            if !writeLine(line, to: descriptor, waits: false) { leftOut = 1 }
        }
    }
}

/// Writes a line and its end.
/// - Parameter waits: whether to wait for room. If not, a part for which there is none is missing.
/// - Returns: whether there was room, for the beginning at least.
@discardableResult
private func writeLine(_ line: String, to descriptor: Int32, waits: Bool) -> Bool {
    var bytes = ContiguousArray(line.utf8)
    bytes.append(UInt8(ascii: "\n"))
    return bytes.withUnsafeBytes { bytes in
        var rest = bytes[...]
        while !rest.isEmpty {
            // A pipe that has any room takes 4 KiB at once.
            let piece = UnsafeRawBufferPointer(rebasing: waits ? rest : rest.prefix(4_096))
            guard waits || hasRoom(descriptor, within: 0) else { break }
            let count = system_write_file(descriptor, piece.baseAddress, piece.count)
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if waits, system_errno() == EAGAIN {
                _ = hasRoom(descriptor, within: -1)
            } else if system_errno() != EINTR {
                break
            }
        }
        return rest.count < bytes.count
    }
}

/// Whether something can be written. Without a reader there is no room either: to write all the same would end the process by a
/// signal.
private func hasRoom(_ descriptor: Int32, within milliseconds: Int32) -> Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    return poll(&entry, 1, milliseconds) > 0 && entry.revents == Int16(POLLOUT)
}

extension LogStream {
    /// The log where none has been set.
    package static let log: @Sendable (String) -> Void = { error.write(line: "RemoteProxy: \($0.onOneLine)") }
}

extension String {
    /// With control characters spelled out: a peer that chose the text must not be able to write lines of its own into a
    /// log, nor to command the terminal that shows it.
    package var onOneLine: String {
        guard unicodeScalars.contains(where: \.isControl) else { return self }
        return unicodeScalars.map { $0.isControl ? $0.escaped(asASCII: true) : String($0) }.joined()
    }
}

extension Unicode.Scalar {
    fileprivate var isControl: Bool { properties.generalCategory == .control || value == 0x2028 || value == 0x2029 }
}
