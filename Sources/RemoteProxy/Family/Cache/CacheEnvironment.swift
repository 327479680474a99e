// What a cache needs from its surroundings: clocks, a place for its tasks, and a thread that may block on a file.

package import RPCSockets
package import RPCWire

package struct CacheEnvironment: Sendable {
    /// For deadlines and pauses.
    package var loop: any Loop
    /// Where results are fetched; nil for where tasks run anyway.
    package var executor: (any TaskExecutor)?
    /// Nanoseconds since 1970.
    package var wallTime: @Sendable () -> Int64
    /// Runs work that blocks, and returns before it has run.
    package var block: @Sendable (_ work: @escaping @Sendable () -> Void) -> Void

    package init(
        loop: any Loop, executor: (any TaskExecutor)?, wallTime: @escaping @Sendable () -> Int64,
        block: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
    ) {
        self.loop = loop
        self.executor = executor
        self.wallTime = wallTime
        self.block = block
    }

    /// The system's clocks, tasks on the ordinary pool, a thread for each piece of work on the file.
    package static let system = CacheEnvironment(
        loop: EventLoop.shared, executor: nil, wallTime: { WallClock.now },
        block: { work in
            do {
                try SystemThread.start(name: "cache file", work)
            } catch {
                // The system has no thread left. Late and in the way is better than never.
                EventLoop.shared.submit(work)
            }
        })
}
