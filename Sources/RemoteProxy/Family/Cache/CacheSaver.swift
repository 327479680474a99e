// When a cache writes its file: at once after a change, and then not before a pause is over. One write at a time.

import RPCSockets
import RPCWire

/// What a cache needs from the system.
struct CacheEnvironment: Sendable {
    /// For deadlines and pauses.
    var loop: any Loop
    /// Where results are fetched. Nil for where tasks run anyway.
    var executor: (any TaskExecutor)?
    /// Nanoseconds since 1970.
    var wallTime: @Sendable () -> Int64
    /// Runs work that blocks, and returns before it has run.
    var block: @Sendable (_ work: @escaping @Sendable () -> Void) -> Void

    static let system = CacheEnvironment(
        loop: EventLoop.shared, executor: nil, wallTime: { WallClock.now },
        block: { work in
            // Where no thread can be had, a loop that is late is better than a file that is never written.
            do { try SystemThread.start(name: "cache file", work) } catch { EventLoop.shared.submit(work) }
        })
}

final class CacheSaver: Sendable {
    /// Writes the file and says whether that went well. It keeps the cache, so that a cache that is let go with a write
    /// ahead still finds it all in the file at the next launch.
    typealias Write = @Sendable () -> Bool

    private struct State {
        /// Whether something has changed since the last write began.
        var isChanged = false
        /// Whether the last write failed. It is repeated with the next change or `save`, not by itself.
        var hasFailed = false
        var isWriting = false
        /// Whether a write is ahead, or the file is left alone after one.
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

    /// Returns when all changes until now have been written, or could not be: then false. Does not wait for the pause.
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

    /// Writes, unless another write has left nothing to do since this one was decided. A process that has saved may end, and would
    /// cut off a needless write.
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
