// A built program run as a child: arguments in, what it printed and how it ended out.

import Dispatch
import Foundation

/// One of the package's programs while it runs.
///
/// `@unchecked Sendable`: `process` is set up before anybody else sees it; afterwards only its thread-safe parts are used.
final class DemoProcess: @unchecked Sendable {
    struct Result {
        var output: String
        var errors: String
        var exitCode: Int32
    }

    private let process = Process()
    private let output = Pipe()
    private let errors = Pipe()
    private let exit = AsyncStream.makeStream(of: Int32.self)

    /// - Parameter terminal: takes the place of standard output.
    init(
        _ program: String, _ arguments: [String] = [], environment: [String: String] = [:],
        terminal: FileHandle? = nil
    ) throws {
        process.executableURL = try DemoProcess.built(program)
        process.arguments = arguments
        var inherited = ProcessInfo.processInfo.environment
        inherited["NO_COLOR"] = nil
        inherited["TERM"] = "xterm"
        process.environment = inherited.merging(environment) { $1 }
        process.standardOutput = terminal ?? output
        process.standardError = errors
        process.standardInput = FileHandle.nullDevice
        process.terminationHandler = { [exit] in
            exit.continuation.yield($0.terminationStatus)
            exit.continuation.finish()
        }
        try process.run()
        // This end's copies, without which the output would never come to its end.
        try output.fileHandleForWriting.close()
        try errors.fileHandleForWriting.close()
    }

    static func run(
        _ program: String, _ arguments: [String] = [], environment: [String: String] = [:]
    ) async throws -> Result {
        try await DemoProcess(program, arguments, environment: environment).result()
    }

    func terminate() { process.terminate() }

    /// Reads the output up to its first line's end.
    func firstLine() async throws -> String {
        let handle = output.fileHandleForReading
        return await onOtherThread {
            var line = Data()
            while let byte = try? handle.read(upToCount: 1), !byte.isEmpty, byte != Data("\n".utf8) { line += byte }
            return String(decoding: line, as: UTF8.self)
        }
    }

    /// All that is printed until the program ends.
    func result() async throws -> Result {
        async let printed = DemoProcess.text(of: output.fileHandleForReading)
        async let complaints = DemoProcess.text(of: errors.fileHandleForReading)
        let (output, errors) = await (printed, complaints)
        let exitCode = await exit.stream.first { _ in true }
        return Result(output: output, errors: errors, exitCode: exitCode ?? -1)
    }

    static func text(of handle: FileHandle) async -> String {
        await onOtherThread {
            var text = Data()
            var part = [UInt8](repeating: 0, count: 4_096)
            while true {
                // A terminal whose last program has gone ends with an error, and FileHandle would take that for all.
                let count = read(handle.fileDescriptor, &part, part.count)
                guard count > 0 else { break }
                text += part[..<count]
            }
            return String(decoding: text, as: UTF8.self)
        }
    }

    /// Beside the test bundle, wherever that is.
    private static func built(_ program: String) throws -> URL {
        let bundle = CommandLine.arguments.first { $0.contains(".xctest") } ?? CommandLine.arguments[0]
        var folder = URL(fileURLWithPath: bundle).standardizedFileURL
        while folder.path != "/" {
            folder.deleteLastPathComponent()
            let candidate = folder.appendingPathComponent(program)
            if FileManager.default.isExecutableFile(atPath: candidate.path), !isFolder(candidate) { return candidate }
        }
        throw CocoaError(.fileNoSuchFile, userInfo: [NSFilePathErrorKey: program])
    }

    private static func isFolder(_ url: URL) -> Bool {
        (try? url.resourceValues(forKeys: [.isDirectoryKey]))?.isDirectory ?? false
    }
}

/// Reading blocks, and Swift's own threads are too few to be blocked.
private func onOtherThread(_ work: @escaping @Sendable () -> String) async -> String {
    await withCheckedContinuation { continuation in
        Thread { continuation.resume(returning: work()) }.start()
    }
}
