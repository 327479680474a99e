// What happens to a locked subject, and what its state becomes: the line, and what there is to a hold besides.

import RPCWire

extension SubjectLock {
    enum Event: Sendable {
        case left(Turn)
        case delivered
        case gaveUp(ticket: Int)
        case holdEnded
        case closed
        case nothing
    }

    struct State {
        var line = Line()
        var keptPosts = 0
        /// The hold that is inside.
        var hold: SubjectLock?
        var lease: (any LoopTimer)?
        /// A hold that has been left for good.
        var isOver = false

        /// Answers who is inside now and is to be told, and whether the last has just left a hold.
        mutating func after(_ event: Event) -> (Line.Place?, ends: Bool) {
            switch event {
            case .left(let turn): line.leave(turn.access, by: turn.task)
            case .delivered:
                keptPosts -= 1
                line.leave(.changing, by: Line.nobody)
            case .gaveUp(let ticket): line.withdraw(ticket)
            case .holdEnded:
                hold = nil
                line.leave(.holding, by: Line.nobody)
            case .closed, .nothing: break
            }
            let next = line.next()
            let ends = !isOver && line.isClosed && line.isEmpty
            if ends { isOver = true }
            return (next, ends)
        }
    }
}
