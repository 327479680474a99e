// What a program without Foundation needs from its surroundings: lines to its standard streams, its environment, its
// way out.

import CSystem

package enum StandardStream: Int32, Sendable {
    case output = 1
    case error = 2

    /// Writes the line and its end in one call, so that lines of several threads do not mix. Blocks if it must; what
    /// cannot be written is dropped, because there is no place left to report it.
    package func write(line: String) {
        var bytes = ContiguousArray(line.utf8)
        bytes.append(UInt8(ascii: "\n"))
        bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = system_write_file(rawValue, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count >= 0 {
                    rest = rest.dropFirst(count)
                } else if system_errno() == EAGAIN {
                    waitForRoom()
                } else if system_errno() != EINTR {
                    return
                }
            }
        }
    }

    /// Whether a person is looking.
    package var isTerminal: Bool { isatty(rawValue) == 1 }

    private func waitForRoom() {
        var entry = pollfd(fd: rawValue, events: Int16(POLLOUT), revents: 0)
        _ = poll(&entry, 1, -1)
    }
}

package enum ProcessEnvironment {
    package static subscript(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    /// Reads a variable and removes it.
    package static func take(_ name: String) -> String? {
        let value = self[name]
        if value != nil { unsetenv(name) }
        return value
    }

    /// Keeps the calling thread out of the way until another ends the process.
    package static func waitForExit() -> Never {
        while true { pause() }
    }

    /// Ends the process at once.
    package static func exit(_ code: Int32) -> Never { CSystem.exit(code) }
}
