// Reads what a child process writes to its standard error, and hands it over line by line.

import CSystem

/// Cuts bytes into lines. Keeps no more of a line than its limit, however long the line is. Pure.
struct LineCutter {
    /// As long as a line of a log may be.
    static let longest = 8_192

    private var line: [UInt8] = []
    private var isCut = false

    init() {}

    /// - Parameter take: is called with each line that ends here, without its end.
    mutating func append(_ bytes: some Sequence<UInt8>, _ take: (String) -> Void) {
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                finish(take)
            } else if line.count < Self.longest {
                line.append(byte)
            } else {
                isCut = true
            }
        }
    }

    /// Ends the line that has begun, if it is not empty.
    mutating func finish(_ take: (String) -> Void) {
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        if !line.isEmpty { take(String(decoding: line, as: UTF8.self) + (isCut ? "…" : "")) }
        line.removeAll(keepingCapacity: true)
        isCut = false
    }
}

/// Reads a pipe to its end on a thread of its own. So a log that blocks holds up nothing but the program that writes.
final class ErrorLog: Sendable {
    private let last = Lock<String?>(nil)
    /// Counts when all has been read.
    let isOver = Latch()

    /// - Parameter take: is called with each line.
    init(_ reader: FileDescriptor, take: @escaping @Sendable (String) -> Void) throws(SystemError) {
        try SystemThread.start(name: "rpc-child-log") { [self] in
            var lines = LineCutter()
            var window = [UInt8](repeating: 0, count: 16_384)
            while true {
                let count = window.withUnsafeMutableBytes { reader.readPatiently($0) }
                guard count > 0 else { break }
                lines.append(window[..<count]) { tell($0, take) }
            }
            lines.finish { tell($0, take) }
            isOver.count()
        }
    }

    private func tell(_ line: String, _ take: (String) -> Void) {
        last.withLock { $0 = line }
        take(line)
    }

    /// The last line that has come.
    var lastLine: String? { last.withLock { $0 } }
}
