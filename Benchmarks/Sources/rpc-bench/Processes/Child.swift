// A process of the bench's own, read through its standard output. It ends with its parent whatever happens.

import BenchSystem
import Glibc

/// A running child.
struct Child: ~Copyable {
    private(set) var process: pid_t
    private let output: Int32
    private let name: String

    /// Starts this program again in another role.
    init(_ role: Role, _ arguments: [String]) throws(BenchFailure) {
        try self.init("/proc/self/exe", ["rpc-bench", Role.flag, role.rawValue] + arguments)
    }

    /// Starts any program. Arguments begin with its name.
    init(_ path: String, _ arguments: [String]) throws(BenchFailure) {
        var strings: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        defer { for string in strings { free(string) } }
        var output: Int32 = -1
        process = bench_spawn(path, &strings, &output)
        guard process > 0 else { throw BenchFailure("cannot start \(path): error \(errno)") }
        self.output = output
        name = arguments.joined(separator: " ")
    }

    deinit {
        if process > 0 {
            kill(process, SIGKILL)
            _ = bench_wait(process)
        }
        close(output)
    }

    /// The next line that the child prints; nil when it has ended.
    func readLine() throws(BenchFailure) -> String? {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while true {
            switch read(output, &byte, 1) {
            case 1 where byte == UInt8(ascii: "\n"): return String(decoding: bytes, as: UTF8.self)
            case 1: bytes.append(byte)
            case 0: return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
            default: if errno != EINTR { throw BenchFailure("cannot read from '\(name)': error \(errno)") }
            }
        }
    }

    /// The first line, for children that say where they listen.
    func firstLine() throws(BenchFailure) -> String {
        guard let line = try readLine() else { throw BenchFailure("'\(name)' ended without a word") }
        return line
    }

    /// All that the child prints until it ends by itself.
    /// - Throws: when it does not end well.
    mutating func outputToEnd() throws(BenchFailure) -> String {
        var text = ""
        while let line = try readLine() { text += line + "\n" }
        let code = bench_wait(process)
        process = 0
        guard code == 0 else { throw BenchFailure("'\(name)' failed with \(code): \(text)") }
        return text
    }
}
