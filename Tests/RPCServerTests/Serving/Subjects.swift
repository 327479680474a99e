// Subjects that tests can look into, and a log that can be waited for.

import Protocols
import RemoteProxy
import Synchronization
import Testing

/// Greets only when told to: holds calls in progress for as long as a test needs them.
final class HeldGreeter: Greeter {
    /// What has become of a call.
    enum Event: Equatable { case began(String), cancelled(String) }

    let events: AsyncStream<Event>
    private let report: AsyncStream<Event>.Continuation
    private let gate: AsyncStream<Void>
    private let opener: AsyncStream<Void>.Continuation

    init() {
        (events, report) = AsyncStream.makeStream()
        (gate, opener) = AsyncStream.makeStream()
    }

    /// Lets one call go on.
    func release() { opener.yield() }

    func greet(_ name: String) async throws -> String {
        report.yield(.began(name))
        for await _ in gate { return "Hello at last, \(name)!" }
        report.yield(.cancelled(name))
        throw CancellationError()
    }
}

/// Greets in the way it is told.
struct ScriptedGreeter: Greeter {
    let answer: @Sendable (String) async throws -> String

    init(_ answer: @escaping @Sendable (String) async throws -> String) { self.answer = answer }

    func greet(_ name: String) async throws -> String { try await answer(name) }
}

/// The lines that a server or client logs.
struct LogLines: Sendable {
    let lines: AsyncStream<String>
    let write: @Sendable (LogRecord) -> Void

    init() {
        let (stream, continuation) = AsyncStream<String>.makeStream()
        lines = stream
        write = { continuation.yield($0.message) }
    }

    func first(where matches: (String) -> Bool) async -> String? {
        for await line in lines where matches(line) { return line }
        return nil
    }
}

extension AsyncStream {
    func first(where matches: (Element) -> Bool) async -> Element? {
        for await element in self where matches(element) { return element }
        return nil
    }
}
