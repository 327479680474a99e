// A built program run as a child: arguments in, what it printed and how it ended out.

import Foundation
import TestSupport

/// One of the package's programs while it runs.
final class DemoProcess: Sendable {
    struct Result {
        var output: String
        var errors: String
        var exitCode: Int32
    }

    private let process: ChildProcess

    /// - Parameter terminal: takes the place of standard output.
    init(
        _ program: String, _ arguments: [String] = [], environment: [String: String] = [:],
        terminal: FileHandle? = nil
    ) throws {
        // An empty NO_COLOR is none.
        let surroundings = ["NO_COLOR": "", "TERM": "xterm"].merging(environment) { $1 }
        process = try ChildProcess(
            ChildProcess.built(program), arguments, environment: surroundings, terminal: terminal)
    }

    static func run(
        _ program: String, _ arguments: [String] = [], environment: [String: String] = [:]
    ) async throws -> Result {
        try await DemoProcess(program, arguments, environment: environment).result()
    }

    func terminate() { process.signal(SIGTERM) }

    /// Reads the output up to its first line's end.
    func firstLine() async throws -> String {
        try await blocking { [process] in
            var line = Data()
            while let byte = try process.output.read(upToCount: 1), !byte.isEmpty, byte != Data("\n".utf8) {
                line += byte
            }
            return String(decoding: line, as: UTF8.self)
        }.get()
    }

    /// All that is printed until the program ends.
    func result() async throws -> Result {
        async let output = Self.text(of: process.output)
        async let errors = Self.text(of: process.errors)
        let exitCode = try await blocking { [process] in process.waitForEnd() }.get()
        return try await Result(output: output, errors: errors, exitCode: exitCode)
    }

    static func text(of handle: FileHandle) async throws -> String {
        try await blocking { ChildProcess.text(of: handle) }.get()
    }
}
