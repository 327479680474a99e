// Where lines of a log go that may have no reader: a full pipe would keep the thread that writes to it, which may be that of
// all connections. What finds no room is left out, and how much that was is said when there is room again.

import CSystem

package final class LogStream: Sendable {
    package static let error = LogStream(StandardStream.error.rawValue)

    /// A pipe that has any room takes so much at once.
    private static let piece = 4_096

    private let descriptor: Int32
    /// How many lines have found no room.
    private let leftOut = Lock(0)

    package init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// Never waits for a reader.
    package func write(line: String) {
        leftOut.withLock { leftOut in
            if leftOut > 0 {
                let lines = leftOut == 1 ? "line was" : "lines were"
                guard offer("\(leftOut) \(lines) left out: the log had no reader") else { return leftOut += 1 }
                leftOut = 0
            }
            if !offer(line) { leftOut = 1 }
        }
    }

    /// Answers whether there was room, for its beginning at least: what does not follow then is missing.
    private func offer(_ line: String) -> Bool {
        var bytes = ContiguousArray(line.utf8)
        bytes.append(UInt8(ascii: "\n"))
        return bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(Self.piece))
                let count = hasRoom ? system_write_file(descriptor, piece.baseAddress, piece.count) : 0
                if count > 0 {
                    rest = rest.dropFirst(count)
                } else if count == 0 || system_errno() != EINTR {
                    return rest.count < bytes.count
                }
            }
            return true
        }
    }

    /// Without a reader there is none either: to write all the same would end the process by a signal.
    private var hasRoom: Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&entry, 1, 0) > 0 && entry.revents == Int16(POLLOUT)
    }
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
