// When a cache writes its file: at once after a change, then not again for a pause; one write at a time.

import RPCSockets
import RPCWire

/// What a cache needs from its surroundings.
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
            // If the system has no thread left, the loop may be late: better than a file that is never written.
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
        /// Whether the file is being written, or is left alone after that.
        var isRunning = false
        /// Ends the pause.
        var pause: WaitingTask<Void>?
        var savers: [WaitingTask<Bool>] = []
    }

    private let pause: Duration
    private let environment: CacheEnvironment
    private let state = Lock(State())

    init(pause: Duration, _ environment: CacheEnvironment) {
        self.pause = pause
        self.environment = environment
    }

    func changed(_ write: @escaping Write) {
        state.withLock { $0.isChanged = true }
        run(write)
    }

    /// Returns when all changes until now have been written, or could not be: then false. Does not wait for the pause.
    func save(_ write: @escaping Write) async -> Bool {
        let task = WaitingTask<Bool>()
        let (isSaved, pause) = state.withLock { state -> (Bool, WaitingTask<Void>?) in
            let isWriting = state.isRunning && state.pause == nil
            guard state.isChanged || state.hasFailed || isWriting else { return (true, nil) }
            state.savers.append(task)
            return (false, state.pause)
        }
        if isSaved { return true }
        if pause?.end(with: ()) == nil { run(write) }
        return (try? await task.wait(until: .distantFuture, on: environment.loop)) ?? false
    }

    private func run(_ write: @escaping Write) {
        let begins = state.withLock { state in
            defer { state.isRunning = true }
            return !state.isRunning
        }
        guard begins else { return }
        Task.detached(executorPreference: environment.executor) { [self] in
            repeat {
                let savers = state.withLock { state in
                    state.isChanged = false
                    defer { state.savers = [] }
                    return state.savers
                }
                let isWritten = await withUnsafeContinuation { continuation in
                    environment.block { continuation.resume(returning: write()) }
                }
                let pause = WaitingTask<Void>()
                let isWanted = state.withLock { state in
                    state.hasFailed = !isWritten
                    // Those that came during the write may wait for a change that it does not have.
                    state.pause = state.savers.isEmpty ? pause : nil
                    return state.pause == nil
                }
                for saver in savers { _ = saver.end(with: isWritten) }
                if isWanted { continue }
                _ = try? await pause.wait(until: environment.loop.now.advanced(by: self.pause), on: environment.loop)
            } while state.withLock { state in
                state.pause = nil
                state.isRunning = state.isChanged || !state.savers.isEmpty
                return state.isRunning
            }
        }
    }
}
