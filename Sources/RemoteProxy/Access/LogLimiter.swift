// Limits the number and the length of records that go into a log, to what a disk can bear. Those beyond the limit are left
// out, and their number is logged at the end of the window.

import RPCSockets
package import RPCWire

package final class LogLimiter: Sendable {
    private struct State {
        var rate = RateLimit()
        var leftOut = 0
    }

    private static let window = Duration.seconds(10)
    /// A longer line is cut: its text may come from the other end.
    private static let longestLine = 8_192

    private let most: Int
    private let loop: any Loop
    private let write: @Sendable (LogRecord) -> Void
    private let overran: @Sendable () -> Void
    private let state: Lock<State>

    /// - Parameters:
    ///   - most: how many lines may be written in ten seconds.
    ///   - overran: called for each line that is left out.
    package init(
        most: Int, on loop: any Loop, overran: @escaping @Sendable () -> Void = {},
        write: @escaping @Sendable (LogRecord) -> Void
    ) {
        self.most = most
        self.loop = loop
        self.write = write
        self.overran = overran
        state = Lock(State())
    }

    package func log(_ record: LogRecord) {
        let now = loop.now
        let (isAdmitted, windowEnd) = state.withLock { state -> (Bool, Instant?) in
            guard !state.rate.admits(most, per: Self.window, at: now) else { return (true, nil) }
            state.leftOut += 1
            return (false, state.leftOut == 1 ? state.rate.windowEnd : nil)
        }
        if isAdmitted { return write(Self.cut(record)) }
        overran()
        if let windowEnd { loop.schedule(at: windowEnd) { [self] in tell() } }
    }

    private static func cut(_ record: LogRecord) -> LogRecord {
        let count = record.message.utf8.count
        guard count > longestLine else { return record }
        var record = record
        record.message =
            "\(String(decoding: record.message.utf8.prefix(longestLine), as: UTF8.self))… (\(count) bytes)"
        return record
    }

    private func tell() {
        let count = state.withLock { state in
            defer { state.leftOut = 0 }
            return state.leftOut
        }
        write(LogRecord(.warning, "\(count) \(count == 1 ? "line was" : "lines were") left out (maximumLogLines)"))
    }
}
