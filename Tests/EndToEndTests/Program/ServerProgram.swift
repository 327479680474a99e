// The built `rpc-server`, or another of our servers, as a child process: its arguments, its lines, its signals, its end.

import Foundation
import RemoteProxy
import TestSupport

final class ServerProgram {
    /// How a program ended and all that it said and had not been read before.
    struct End: Equatable {
        var code: Int32
        var output: String
        var errors: String
    }

    private let process: ChildProcess
    private var unread: [UInt8] = []
    private var unreadErrors: [UInt8] = []

    /// - Parameters:
    ///   - environment: added to the one of the tests.
    ///   - kilobytes: all the memory that it may have.
    ///   - descriptors: how many files it may have open.
    init(
        _ arguments: String..., program: String = "rpc-server", environment: [String: String] = [:],
        memory kilobytes: Int? = nil, descriptors: Int? = nil
    ) throws {
        let program = try ChildProcess.built(program)
        guard let limit = kilobytes ?? descriptors else {
            process = try ChildProcess(program, arguments, environment: environment)
            return
        }
        // Of memory also what it has only asked for and not used.
        let option = kilobytes == nil ? "n" : "v"
        let shell = ["-c", #"ulimit -\#(option) "$0" && exec "$@""#, "\(limit)", program]
        process = try ChildProcess("sh", shell + arguments, environment: environment)
    }

    /// The next line on standard output, at most five minutes from now.
    func line() throws -> String { try line(of: process.output, &unread) }

    /// The next line of its log, at most five minutes from now.
    func logLine() throws -> String { try line(of: process.errors, &unreadErrors) }

    private func line(of handle: FileHandle, _ unread: inout [UInt8]) throws -> String {
        while true {
            if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
                defer { unread.removeFirst(end + 1) }
                return String(decoding: unread[..<end], as: UTF8.self)
            }
            guard try fill(&unread, from: handle) else { throw WireFault("rpc-server ended after: \(unread)") }
        }
    }

    /// The address of the next `listening on` line.
    func address() throws -> Endpoint {
        let line = try line()
        guard line.hasPrefix("listening on ") else { throw WireFault("rpc-server printed \(line)") }
        return try Endpoint(String(line.dropFirst("listening on ".count)))
    }

    /// What everybody on the machine can see of it.
    func commandLine() throws -> String {
        let words = try Data(contentsOf: URL(filePath: "/proc/\(process.identifier)/cmdline"))
        return String(decoding: words, as: UTF8.self)
    }

    /// The most bytes that it has had at a time.
    func peakMemory() throws -> Int { try ProcessMemory.peak(of: "\(process.identifier)") }

    func signal(_ number: Int32) { process.signal(number) }

    /// Waits for the end, and makes one when it is silent for five minutes.
    func end() -> End {
        do { while try fill(&unread, from: process.output) {} } catch { signal(SIGKILL) }
        let said = String(decoding: unreadErrors, as: UTF8.self) + ChildProcess.text(of: process.errors)
        return End(code: process.waitForEnd(), output: String(decoding: unread, as: UTF8.self), errors: said)
    }

    private func fill(_ unread: inout [UInt8], from handle: FileHandle) throws -> Bool {
        let descriptor = handle.fileDescriptor
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&entry, 1, 300_000) == 1 else { throw WireFault("rpc-server was silent for five minutes") }
        var window = [UInt8](repeating: 0, count: 4_096)
        let count = read(descriptor, &window, window.count)
        guard count > 0 else { return false }
        unread += window[..<count]
        return true
    }
}

/// A folder of its own for one test, with a path short enough for sockets.
final class SocketFolder: Sendable {
    let path = "/tmp/rpc-\(UUID().uuidString.prefix(8))"

    init() throws {
        url = try Endpoint("unix://\(path)/socket")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Where a server can have its socket.
    let url: Endpoint
    var hasSocket: Bool { FileManager.default.fileExists(atPath: "\(path)/socket") }
}

/// A file of tokens for one test.
final class TokenFile: Sendable {
    let path = "/tmp/rpc-tokens-\(UUID().uuidString.prefix(8))"

    init(_ text: String, mode: Int) throws {
        try write(text)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    /// In its place, so that its mode stays.
    func write(_ text: String) throws { try Data(text.utf8).write(to: URL(filePath: path)) }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
