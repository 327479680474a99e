// A running child process: how it is started, awaited and ended. It is awaited on a thread of its own, since this is the one way
// that all systems have and that leaves the signals of the program alone.

import CSystem
import RPCWire

package final class Subprocess: Sendable {
    /// How a child has ended.
    enum End: Sendable, Equatable {
        case exited(status: Int32)
        case killed(signal: Int32)
        /// Other code of this program has waited for it, or has the system forget all children.
        case unknown
    }

    private struct State {
        /// Set when the number is no longer the child's own.
        var end: End?
        var isEnding = false
        var timer: (any LoopTimer)?
    }

    /// How long a child has between SIGTERM and SIGKILL.
    private static let lastGrace = Duration.seconds(1)

    package let identifier: Int32
    private let name: String
    private let errors: ErrorLog?
    private let state = Lock(State())
    /// Counts the end of the child and the end of its standard error.
    let isSettled = Latch(after: 2)

    private init(_ identifier: Int32, _ name: String, _ errors: ErrorLog?) {
        (self.identifier, self.name, self.errors) = (identifier, name, errors)
    }

    // MARK: beginning

    /// Starts a program as the leader of a process group of its own. Its standard input and output are one socket.
    /// - Parameters:
    ///   - line: is called with each line on its standard error, if that goes to the log.
    ///   - started: is called once, on another thread, with the child and the near end of its socket.
    static func start(
        _ launch: ProgramLaunch, line: @escaping @Sendable (String) -> Void,
        started: @escaping @Sendable (Result<(process: Subprocess, stream: Socket), SetupError>) -> Void
    ) {
        do throws(SystemError) {
            try SystemThread.start(name: "rpc-child") { begin(launch, line, started)?.awaitEnd() }
        } catch {
            started(.failure(launch.failure(error)))
        }
    }

    private static func begin(
        _ launch: ProgramLaunch, _ line: @escaping @Sendable (String) -> Void,
        _ started: (Result<(process: Subprocess, stream: Socket), SetupError>) -> Void
    ) -> Subprocess? {
        do throws(SystemError) {
            let (near, far) = try Socket.pair()
            let (writer, errors) = try errorOutput(launch.errorOutput, line)
            // The child's programs know nothing of descriptors that never wait.
            try SystemCall.make("fcntl") { system_set_waiting(far.descriptor, 1) }
            let stream = FileDescriptor(try SystemCall.make("fcntl") { system_duplicate(far.descriptor) })
            let identifier = try withExtendedLifetime((stream, writer)) { () throws(SystemError) in
                try launch.spawn(stream.number, writer.number)
            }
            far.close()
            let process = Subprocess(identifier, launch.name, errors)
            if let errors { errors.isOver.whenDone { process.isSettled.count() } } else { process.isSettled.count() }
            started(.success((process, near)))
            return process
        } catch {
            started(.failure(launch.failure(error)))
            return nil
        }
    }

    /// Where the child's standard error goes, under a number above those of the standard streams; and what reads it here.
    private static func errorOutput(
        _ output: ProgramLaunch.ErrorOutput, _ line: @escaping @Sendable (String) -> Void
    ) throws(SystemError) -> (FileDescriptor, ErrorLog?) {
        switch output {
        case .log:
            let (reader, writer) = try SystemCall.pair("pipe", system_pipe)
            let (input, end) = (FileDescriptor(reader), FileDescriptor(writer))
            try SystemCall.make("fcntl") { system_set_waiting(end.number, 1) }
            return (try end.copy(), try ErrorLog(input, take: line))
        case .inherited: return (try FileDescriptor(copying: StandardStream.error.rawValue), nil)
        case .discarded: return (try FileDescriptor("/dev/null", O_WRONLY).copy(), nil)
        }
    }

    // MARK: ending

    private func awaitEnd() {
        let isKnown = system_await_end(identifier) == 0
        let timer = state.withLock { state in
            // What the child has left in its group would keep the socket. A group has its leader's number until that is forgotten.
            if isKnown { system_signal_group(identifier, SIGTERM) }
            let code = system_reap(identifier)
            state.end = code == .min ? .unknown : code < 0 ? .killed(signal: -code) : .exited(status: code)
            return state.timer.take()
        }
        timer?.cancel()
        isSettled.count()
    }

    /// Ends the child's process group by SIGTERM if the child has not ended by then, and by SIGKILL a second later. The end of its
    /// input is the caller's affair. Only the first call counts.
    /// - Parameter grace: how long it has to end by itself.
    func end(after grace: Duration, on loop: any Loop) {
        let isFirst = state.withLock { state in
            defer { state.isEnding = true }
            return !state.isEnding
        }
        guard isFirst else { return }
        later(grace, on: loop) { [self] in
            signal(SIGTERM)
            later(Self.lastGrace, on: loop) { [self] in signal(SIGKILL) }
        }
    }

    private func later(_ time: Duration, on loop: any Loop, _ action: @escaping @Sendable () -> Void) {
        let timer = loop.schedule(at: loop.now.advanced(by: time), action)
        let hasEnded = state.withLock { state in
            if state.end == nil { state.timer = timer }
            return state.end != nil
        }
        if hasEnded { timer.cancel() }
    }

    private func signal(_ number: Int32) {
        state.withLock { if $0.end == nil { system_signal_group(identifier, number) } }
    }

    // MARK: words

    /// Such as "the child process thing (pid 12) ended with exit status 3". Nil while it runs.
    var ending: String? {
        guard let end = state.withLock({ $0.end }) else { return nil }
        let how =
            switch end {
            case .exited(let status): "ended with exit status \(status)"
            case .killed(let signal): "ended by signal \(signal)"
            case .unknown: "ended"
            }
        return "\(self) \(how)\(lastWords)"
    }

    /// Most of what an error quotes of the standard error.
    private static let longestQuotation = 200

    private var lastWords: String {
        guard let line = errors?.lastLine?.onOneLine else { return "" }
        let isLong = line.count > Self.longestQuotation
        return "; its last line on standard error: \(line.prefix(Self.longestQuotation))\(isLong ? "…" : "")"
    }
}

extension Subprocess: CustomStringConvertible {
    package var description: String { "the child process \(name) (pid \(identifier))" }
}

extension ProgramLaunch {
    /// Errors that the next attempt would meet as well.
    private static let lasting: Set<Int32> = [
        ENOENT, EACCES, ENOTDIR, EISDIR, ELOOP, ENOEXEC, ENAMETOOLONG, E2BIG, EINVAL, EPERM, ENOTSUP,
    ]

    fileprivate func failure(_ error: SystemError) -> SetupError {
        let place = directory.map { " in the directory \($0)" } ?? ""
        return SetupError("cannot start \(program)\(place): \(error)", isLasting: Self.lasting.contains(error.code))
    }

    /// - Returns: the number of the child.
    fileprivate func spawn(_ stream: Int32, _ errors: Int32) throws(SystemError) -> Int32 {
        let words = [program] + arguments
        let texts = words + [directory ?? ""] + environment.flatMap { [$0.key, $0.value ?? ""] }
        guard !texts.contains(where: { $0.utf8.contains(0) }) else { throw SystemError("posix_spawn", code: EINVAL) }
        var arguments = words.map { strdup($0) } + [nil]
        var environment =
            inheritedVariables + self.environment.compactMap { name, value in value.map { strdup("\(name)=\($0)") } }
        environment.append(nil)
        defer { for text in arguments + environment { free(text) } }
        var identifier: pid_t = 0
        let code = system_spawn(&identifier, program, &arguments, &environment, directory, stream, errors)
        guard code == 0 else { throw SystemError("posix_spawn", code: code) }
        return identifier
    }

    /// Copies of the variables of this process that the child has too, in their bytes.
    private var inheritedVariables: [UnsafeMutablePointer<CChar>?] {
        var (copies, next) = ([UnsafeMutablePointer<CChar>?](), system_environment())
        while let place = next, let variable = place.pointee {
            let name = String(cString: variable).prefix { $0 != "=" }
            if !environment.keys.contains(String(name)) { copies.append(strdup(variable)) }
            next = place + 1
        }
        return copies
    }
}
