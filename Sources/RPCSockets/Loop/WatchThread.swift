// The thread that looks every few milliseconds while any loop of the process is lent, and sleeps when none has been for
// a while. What it sees and does, and when it is to look again, is for each `LoopWatch` to know.

/// `@unchecked Sendable`: `watches` is a lock, and of `selector` any thread may call `wake`; only the thread itself waits.
package final class WatchThread: @unchecked Sendable {
    private static let only = Lock<WatchThread?>(nil)

    /// The one that all share, started by the first who needs it. It never ends.
    package static func running() throws(SystemError) -> WatchThread {
        try only.withLock { only throws(SystemError) in
            if let only { return only }
            let thread = try WatchThread()
            try SystemThread.start(name: "rpc-watch") { thread.run() }
            only = thread
            return thread
        }
    }

    private let selector: any Selector
    /// Those that have loops to look at.
    private let watches = Lock<[LoopWatch]>([])

    private init() throws(SystemError) { selector = try EventLoop.Backend.best.makeSelector() }

    /// From now on, until a look sees nothing to look at.
    func look(for watch: LoopWatch) {
        let isFirst = watches.withLock { watches in
            guard !watches.contains(where: { $0 === watch }) else { return false }
            watches.append(watch)
            return watches.count == 1
        }
        if isFirst { selector.wake() }
    }

    private func run() {
        var pause = EventLoop.timeBetweenLooks
        while true {
            let isResting = watches.withLock { $0.isEmpty }
            _ = selector.wait(isResting ? nil : pause)
            pause = EventLoop.timeBetweenLooks
            for watch in watches.withLock({ $0 }) {
                if let next = watch.look() {
                    pause = min(pause, next)
                } else {
                    // Unless it has something to look at by now, and believes that it stands there.
                    watches.withLock { watches in watches.removeAll { $0 === watch && $0.loopsInSight == 0 } }
                }
            }
        }
    }
}
