// The program that the compiler starts to expand macros, and its pipe to the compiler. A message is an eight-byte
// little-endian length and that many bytes of JSON. This is the only file of the plugin with system calls.

#if canImport(Darwin)
    private import Darwin
#elseif canImport(Musl)
    private import Musl
#else
    private import Glibc
#endif

/// The pipe to the compiler. Reading ends when the compiler closes its side or breaks the framing.
package struct PluginChannel {
    /// The plugin's whole run: answers the compiler until it closes the pipe.
    package static func run() { PluginChannel().serve(PluginConversation.answer) }

    /// A longer message means that the length is wrong.
    static let largestMessage: UInt64 = 1 << 30

    var input: Int32 = 0
    var output: Int32 = 1

    /// Answers one message after another until there are none.
    func serve(_ answer: ([UInt8]) -> [UInt8]) {
        while let message = receive() {
            guard send(answer(message)) else { return }
        }
    }

    /// The next message, or nil at the end.
    func receive() -> [UInt8]? {
        guard let header = bytes(8) else { return nil }
        let length = header.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard length <= Self.largestMessage else { return nil }
        return bytes(Int(length))
    }

    /// Writes one message; false when the other side has been closed.
    func send(_ message: [UInt8]) -> Bool {
        let length = UInt64(message.count)
        let framed = (0..<8).map { UInt8(truncatingIfNeeded: length >> ($0 * 8)) } + message
        return framed.withUnsafeBytes { bytes in
            Self.transfer(bytes.count) { write(output, bytes.baseAddress?.advanced(by: $0), $1) }
        }
    }

    private func bytes(_ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        let isWhole = bytes.withUnsafeMutableBytes { bytes in
            Self.transfer(count) { read(input, bytes.baseAddress?.advanced(by: $0), $1) }
        }
        return isWhole ? bytes : nil
    }

    /// Repeats a system call that may do less than it was asked for.
    private static func transfer(_ count: Int, _ step: (_ done: Int, _ rest: Int) -> Int) -> Bool {
        var done = 0
        while done < count {
            let moved = step(done, count - done)
            if moved < 0, errno == EINTR { continue }
            guard moved > 0 else { return false }
            done += moved
        }
        return true
    }
}
