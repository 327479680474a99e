// Writes lines to a program's standard streams, and to logs that may have no reader.

import CSystem

package enum StandardStream: Int32, Sendable {
    case output = 1
    case error = 2

    /// Writes the line and its end in one call, so that the lines of several threads do not mix. May block. A line that cannot
    /// be written is dropped, because its failure can be reported nowhere.
    package func write(line: String) { writeLine(line, to: rawValue, waits: true) }

    /// Whether the stream is a terminal.
    package var isTerminal: Bool { isatty(rawValue) == 1 }
}

/// A log that may have no reader. A full pipe would block the writing thread, perhaps the one of all connections. So a line
/// that has no room is left out. The number of such lines is logged when there is room again.
package final class LogStream: Sendable {
    package static let error = LogStream(StandardStream.error.rawValue)

    private let descriptor: Int32
    /// How many lines were left out since that was last logged.
    private let leftOut = Lock(0)

    package init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// Writes the line if there is room; never waits for a reader.
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
/// - Parameter waits: whether to wait for room. If not, the part without room is left out.
/// - Returns: whether there was room, at least for the beginning.
@discardableResult
private func writeLine(_ line: String, to descriptor: Int32, waits: Bool) -> Bool {
    var bytes = ContiguousArray(line.utf8)
    bytes.append(UInt8(ascii: "\n"))
    return bytes.withUnsafeBytes { bytes in
        var rest = bytes[...]
        while !rest.isEmpty {
            // A pipe that has room takes 4 KiB at once.
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

/// Whether the descriptor can be written to. False for a pipe without a reader: writing to it would end the process by a
/// signal.
private func hasRoom(_ descriptor: Int32, within milliseconds: Int32) -> Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    return poll(&entry, 1, milliseconds) > 0 && entry.revents == Int16(POLLOUT)
}

extension LogStream {
    /// The log that is used if no other has been set.
    package static let log: @Sendable (String) -> Void = { error.write(line: "RemoteProxy: \($0.onOneLine)") }
}

extension String {
    /// The text with its control characters escaped. A peer may have chosen the text. It must not be able to write lines of its
    /// own into a log, or to command the terminal that shows the log.
    package var onOneLine: String {
        guard unicodeScalars.contains(where: \.isControl) else { return self }
        return unicodeScalars.map { $0.isControl ? $0.escaped(asASCII: true) : String($0) }.joined()
    }
}

extension Unicode.Scalar {
    /// Whether it ends a line, commands a terminal, or changes the order in which the text is shown.
    fileprivate var isControl: Bool {
        switch value {
        case 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: properties.generalCategory == .control
        }
    }
}
