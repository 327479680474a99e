// Tasks that wait in a subject, first come first served. Part of its owner's locked state.

struct WaitingLine<Turn: Sendable> {
    private var tasks: [WaitingTask<Turn>] = []
    private var head = 0
    /// How long the line may become before those that gave up are looked for.
    private var sweepAt = 64

    var isEmpty: Bool { head == tasks.count }

    /// A task at the end of the line. To be waited for without the lock.
    mutating func join() -> WaitingTask<Turn> {
        let task = WaitingTask<Turn>()
        if tasks.count - head >= sweepAt { sweep() }
        tasks.append(task)
        return task
    }

    /// Takes out the first. It may have given up meanwhile: then `end(with:)` says so and it is the next one's turn.
    mutating func next() -> WaitingTask<Turn>? {
        guard head < tasks.count else { return nil }
        defer {
            head += 1
            if head == tasks.count || head >= 256 { compact() }
        }
        return tasks[head]
    }

    /// Takes out all, in order.
    mutating func takeAll() -> [WaitingTask<Turn>] {
        compact()
        defer { tasks = [] }
        return tasks
    }

    /// Lets go of those that gave up, or a line that never moves would grow with every call.
    private mutating func sweep() {
        compact()
        tasks.removeAll(where: \.isOver)
        sweepAt = max(64, tasks.count * 2)
    }

    private mutating func compact() {
        tasks.removeFirst(head)
        head = 0
    }
}
