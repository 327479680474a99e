// A program that a test runs as a child: arguments and surroundings in; what it prints and how it ends out.
//
// Not Foundation's, whose pipes can get into a child that another test starts at the same moment, and then come to no
// end before that child's. Here children are started one at a time, with nothing of ours but three standard streams.

package import Foundation
import RPCSockets
import RPCWire

package final class ChildProcess: Sendable {
    package let identifier: pid_t
    /// What it prints, as far as nobody has read it.
    package let output: FileHandle
    package let errors: FileHandle
    /// How it ended, once somebody has waited for that; from then on the number may be another's.
    private let ending = Lock<Int32?>(nil)

    private static let oneAtATime = Lock(())

    /// - Parameters:
    ///   - program: a path, or a name to look for as a shell does.
    ///   - environment: added to the one of the tests.
    ///   - terminal: takes the place of standard output.
    package init(
        _ program: String, _ arguments: [String], environment: [String: String] = [:], terminal: FileHandle? = nil
    ) throws {
        let surroundings = ProcessInfo.processInfo.environment.merging(environment) { $1 }.map { "\($0)=\($1)" }
        (identifier, output, errors) = try Self.oneAtATime.withLock { _ in
            let (output, errors) = (Pipe(), Pipe())
            let ends = [output, errors].flatMap { [$0.fileHandleForReading, $0.fileHandleForWriting] }
            for end in ends { _ = fcntl(end.fileDescriptor, F_SETFD, FD_CLOEXEC) }
            #if canImport(Darwin)
                var actions: posix_spawn_file_actions_t?
            #else
                var actions = posix_spawn_file_actions_t()
            #endif
            posix_spawn_file_actions_init(&actions)
            defer { posix_spawn_file_actions_destroy(&actions) }
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
            posix_spawn_file_actions_adddup2(&actions, (terminal ?? output.fileHandleForWriting).fileDescriptor, 1)
            posix_spawn_file_actions_adddup2(&actions, errors.fileHandleForWriting.fileDescriptor, 2)
            var identifier: pid_t = 0
            let code = withCStrings([program] + arguments) { arguments in
                withCStrings(surroundings) { posix_spawnp(&identifier, program, &actions, nil, arguments, $0) }
            }
            guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .ENOENT) }
            // Or what is printed would never come to its end.
            try output.fileHandleForWriting.close()
            try errors.fileHandleForWriting.close()
            return (identifier, output.fileHandleForReading, errors.fileHandleForReading)
        }
    }

    /// A test that fails leaves no child behind.
    deinit {
        signal(SIGKILL)
        _ = waitForEnd()
    }

    package func signal(_ number: Int32) {
        ending.withLock { if $0 == nil { kill(identifier, number) } }
    }

    /// Blocks until the child has ended.
    /// - Returns: its exit code, or minus the number of the signal that has ended it.
    package func waitForEnd() -> Int32 {
        if let known = ending.withLock({ $0 }) { return known }
        // Its number stays its own until it is taken below, so that signals from elsewhere meet nobody else.
        var report = siginfo_t()
        while waitid(P_PID, id_t(identifier), &report, WEXITED | WNOWAIT) < 0, errno == EINTR {}
        return ending.withLock { ending in
            if let ending { return ending }
            var status: Int32 = 0
            waitpid(identifier, &status, 0)
            let end = status & 0x7F == 0 ? status >> 8 & 0xFF : -(status & 0x7F)
            ending = end
            return end
        }
    }

    /// All that is still printed, until nobody is left who could print. Blocks.
    package static func text(of handle: FileHandle) -> String {
        var text: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 4_096)
        while true {
            // A terminal whose last program has gone ends with an error, and FileHandle would take that for all.
            let count = read(handle.fileDescriptor, &part, part.count)
            guard count > 0 else { return String(decoding: text, as: UTF8.self) }
            text += part[..<count]
        }
    }

    /// A program of this package: built into the same folder as the tests, or above it where those are in a bundle.
    package static func built(_ program: String) throws -> String {
        var folder = URL(filePath: CommandLine.arguments[0]).standardizedFileURL.deletingLastPathComponent()
        while folder.path != "/" {
            let file = folder.appending(path: program)
            let isFolder = (try? file.resourceValues(forKeys: [.isDirectoryKey]))?.isDirectory ?? false
            if !isFolder, FileManager.default.isExecutableFile(atPath: file.path) { return file.path }
            folder.deleteLastPathComponent()
        }
        throw ProgramIsNotBuilt(program: program)
    }
}

package struct ProgramIsNotBuilt: Error {
    let program: String
}

/// Lends the texts as C wants them: one after the other, and null at the end.
private func withCStrings<Result>(
    _ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
) -> Result {
    let copies = texts.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    return body(copies + [nil])
}
