// A server whose process has run out of descriptors: those who are in are served on, and the log says once why nobody
// else is.

import Foundation
import RPCServer
import RemoteProxy
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

@Suite struct `A server without descriptors` {
    /// In a process of its own, because the limit is the whole process's.
    @Test func `serves whom it has, says so once, and takes others when it can again`() async {
        await #expect(processExitsWith: .success) { try await ShortageStory().play() }
    }
}

private struct ShortageStory {
    func play() async throws {
        let log = LoggedLines()
        try await withGate {
            $0.log = log.add
        } _: { server, url in
            let value = #"{"jsonrpc":"2.0","method":"Counter.value","id":1}"#
            let old = try RawClient(url)
            try require(try brief(old.ask(value)) == "1=0")
            let before = try limit(dup(0) + 6)
            // Each takes two here, one at either end: some come in, and then nobody.
            var others: [RawClient] = []
            while log.lines.isEmpty, let other = try? RawClient(url) {
                others.append(other)
                try require(try brief(old.ask(value)) == "1=0")
            }
            // Among all the other tests the machine may be late.
            let isAlone = FaultRuns.isFull
            var slowest = Duration.zero
            let (start, workBefore) = (ContinuousClock.now, processTime())
            // Not without a pause: what the server does by itself is to be seen beside it.
            while ContinuousClock.now - start < .milliseconds(500) {
                let asked = ContinuousClock.now
                try require(try brief(old.ask(value)) == "1=0")
                slowest = max(slowest, ContinuousClock.now - asked)
                usleep(20_000)
            }
            try require(slowest < (isAlone ? .milliseconds(100) : .seconds(10)))
            let share = (processTime() - workBefore) / ((ContinuousClock.now - start) / .seconds(1))
            try require(share < (isAlone ? 0.1 : 0.5))
            try require(log.lines.count == 1 && log.lines[0].contains("EMFILE") && log.lines[0].contains("ulimit -n"))
            _ = try limit(before)
            let released = ContinuousClock.now
            try require(try brief(RawClient(url).ask(value)) == "1=0")
            try require(ContinuousClock.now - released < (isAlone ? .seconds(1) : .seconds(20)))
            while log.lines.count < 2 { try require(try brief(RawClient(url).ask(value)) == "1=0") }
            try require(log.lines[1].hasSuffix("accepts again"))
        }
    }

    /// Seconds of processor time that the process has used.
    private func processTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private func require(_ holds: Bool, line: Int = #line) throws {
        if !holds { throw WireFault("line \(line)") }
    }

    /// Sets the soft limit and answers the former one.
    private func limit(_ number: some BinaryInteger) throws -> rlim_t {
        var limits = rlimit()
        getrlimit(resource, &limits)
        let before = limits.rlim_cur
        limits.rlim_cur = rlim_t(number)
        try require(setrlimit(resource, &limits) == 0)
        return before
    }

    #if canImport(Glibc)
        private var resource: __rlimit_resource_t { __rlimit_resource_t(RLIMIT_NOFILE.rawValue) }
    #else
        private var resource: Int32 { RLIMIT_NOFILE }
    #endif
}
