// Decides when a cache writes its file: at once after a change, but not before the pause after the last write. One write at a
// time.

import RPCSockets
import RPCWire

/// What a cache uses of the system.
struct CacheEnvironment: Sendable {
    /// For deadlines and pauses.
    var loop: any Loop
    /// Where results are fetched. Nil for the default executor.
    var executor: (any TaskExecutor)?
    /// Nanoseconds since 1970.
    var wallTime: @Sendable () -> Int64
    /// Runs work that blocks. Returns before the work has run.
    var block: @Sendable (_ work: @escaping @Sendable () -> Void) -> Void

    static let system = CacheEnvironment(
        loop: EventLoop.shared, executor: nil, wallTime: { WallClock.now },
        block: { work in
            // Without a thread the work delays a loop. That is better than a file that is never written.
            do { try SystemThread.start(name: "cache file", work) } catch { EventLoop.shared.submit(work) }
        })
}

final class CacheSaver: Sendable {
    /// Writes the file and returns whether that succeeded. The closure retains the cache. So a cache that is released before
    /// a write has everything in its file at the next launch.
    typealias Write = @Sendable () -> Bool

    private struct State {
        /// Whether something has changed since the last write began.
        var isChanged = false
        /// Whether the last write failed. The next change or `save` repeats it; no timer does.
        var hasFailed = false
        var isWriting = false
        /// Whether a write is due, or the pause after one is not over.
        var isBusy = false
    }

    private let pause: Duration
    private let environment: CacheEnvironment
    private let state = Lock(State())
    /// Held during a write.
    private let file = Lock(())

    init(pause: Duration, _ environment: CacheEnvironment) {
        self.pause = pause
        self.environment = environment
    }

    func changed(_ write: @escaping Write) {
        let begins = state.withLock { state in
            state.isChanged = true
            defer { state.isBusy = true }
            return !state.isBusy
        }
        if begins { writeSoon(write) }
    }

    /// Returns true when all changes until now have been written, and false if they could not be. Does not wait for the pause.
    func save(_ write: @escaping Write) async -> Bool {
        guard state.withLock({ $0.isChanged || $0.hasFailed || $0.isWriting }) else { return true }
        return await withUnsafeContinuation { continuation in
            environment.block { [self] in continuation.resume(returning: writeNow(write)) }
        }
    }

    private func writeSoon(_ write: @escaping Write) {
        environment.block { [self] in
            _ = writeNow(write)
            environment.loop.schedule(at: environment.loop.now.advanced(by: pause)) { [self] in
                let isWanted = state.withLock { state in
                    state.isBusy = state.isChanged
                    return state.isBusy
                }
                if isWanted { writeSoon(write) }
            }
        }
    }

    /// Writes, unless another write has already saved every change. A process may end right after `save`, which would
    /// interrupt a needless write.
    private func writeNow(_ write: Write) -> Bool {
        file.withLock { _ in
            let isNeeded = state.withLock { state in
                guard state.isChanged || state.hasFailed else { return false }
                (state.isChanged, state.isWriting) = (false, true)
                return true
            }
            guard isNeeded else { return true }
            let isWritten = write()
            state.withLock { ($0.hasFailed, $0.isWriting) = (!isWritten, false) }
            return isWritten
        }
    }
}
