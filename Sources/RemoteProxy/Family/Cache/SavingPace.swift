// When a cache writes its file: at once, then not again for a while; one write at a time, and none without a change.
// Events in, what to do out. Part of its owner's locked state.

struct SavingPace {
    enum Action: Equatable {
        case nothing
        case write
        /// Tell `pauseIsOver` after the pause.
        case pause
    }

    private enum Phase {
        case idle
        case writing
        case pausing
    }

    private var phase = Phase.idle
    /// Changes so far, and how many of them the last write began with.
    private(set) var changes = 0
    private(set) var taken = 0

    /// Whether the last write failed. Then the next change or whoever wants it tries again.
    private var hasFailed = false

    /// Whether there is nothing left to write and nothing being written.
    var isWritten: Bool { taken == changes && phase != .writing && !hasFailed }

    mutating func changed() -> Action {
        changes += 1
        return phase == .idle ? write() : .nothing
    }

    /// Somebody waits for the file. What changes while it is being written is written after the pause.
    mutating func wanted() -> Action { phase != .writing && !isWritten ? write() : .nothing }

    mutating func written(isGood: Bool) -> Action {
        phase = .pausing
        hasFailed = !isGood
        return .pause
    }

    mutating func pauseIsOver() -> Action {
        guard phase == .pausing else { return .nothing }
        phase = .idle
        return taken < changes ? write() : .nothing
    }

    private mutating func write() -> Action {
        phase = .writing
        taken = changes
        return .write
    }
}
