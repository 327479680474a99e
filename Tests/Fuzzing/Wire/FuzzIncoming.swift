// The calls that this end runs, against a model that is too simple to be wrong.

@testable import RPCWire

/// What runs calls; which one is all that counts.
private final class FuzzRunner {}

private struct ModelCall {
    let id: RPCIdentifier?
    let deadline: Instant
    let bytes: Int
    let isPost: Bool
    var stop: IncomingCalls.Stop?
    /// Since it has begun.
    var runner: FuzzRunner?
}

func fuzzIncoming(_ dice: inout Dice) {
    let limit = dice.roll(8)
    let byteLimit = 12
    var calls = IncomingCalls(limit: limit, byteLimit: byteLimit)
    let runners = (0..<3).map { _ in FuzzRunner() }
    var model: [Int: ModelCall] = [:]
    var byteCount: Int { model.values.reduce(0) { $0 + $1.bytes } }
    var callCount: Int { model.values.count { !$0.isPost } }
    var isDraining = false

    func stopped(_ reason: IncomingCalls.Stop, _ isMeant: (RPCIdentifier?, Instant) -> Bool) -> [Int] {
        let slots = model.filter { $0.value.stop == nil && isMeant($0.value.id, $0.value.deadline) }.keys.sorted()
        for slot in slots { model[slot]?.stop = reason }
        return slots
    }
    while !dice.isEmpty {
        let id: RPCIdentifier? = dice.roll(4) == 0 ? nil : .integer(Int64(dice.roll(6)))
        switch dice.roll(7) {
        case 0, 1:
            let deadline = at(dice.roll())
            let isPost = id == nil && dice.roll(2) == 0
            let bytes = Int(deadline.nanoseconds % 5)
            switch calls.start(id, isPost: isPost, bytes: bytes, deadline: deadline) {
            case .run(let slot):
                let mayRun = isPost || !isDraining && callCount < limit && byteCount < byteLimit
                require(mayRun && model[slot] == nil, "ran when it must not")
                model[slot] = ModelCall(id: id, deadline: deadline, bytes: bytes, isPost: isPost)
            case .busy(.maximumRequestsInFlight, let most):
                require(!isDraining && !isPost && callCount >= limit && most == limit, "busy")
            case .busy(let which, let most):
                require(which == .maximumBytesInFlight && most == byteLimit, "busy with \(which)")
                require(!isDraining && !isPost && callCount < limit && byteCount >= byteLimit, "busy with bytes")
            case .draining: require(isDraining && !isPost, "draining")
            }
        case 2:
            let slot = dice.roll(8)
            require(calls.isStopping(slot: slot) == (model[slot]?.stop != nil), "whether it stops")
            require(calls.finish(slot: slot) == model.removeValue(forKey: slot)?.stop, "why it stopped")
        case 3:
            guard let id else { break }
            let expected = model.filter { $0.value.id == id && $0.value.stop == nil }.keys.min()
            require(calls.cancel(id) == expected, "cancelling \(id)")
            if let expected { model[expected]?.stop = .cancelled }
        case 4:
            let now = at(dice.roll())
            require(calls.expire(at: now) == stopped(.deadline) { $1 <= now }, "expiring")
            calls.releaseRoom()
        case 5:
            if dice.roll(2) == 0 {
                require(calls.sessionEnded() == stopped(.cancelled) { _, _ in true }, "a loss")
            } else {
                require(calls.peerLeft() == stopped(.cancelled) { id, _ in id != nil }, "a leave")
            }
        default:
            let choice = dice.roll(8)
            guard choice > 0 else {
                calls.drain()
                isDraining = true
                break
            }
            let (slot, runner) = (choice - 1, runners[model.count % runners.count])
            let isToRun = model[slot].map { $0.stop == nil } ?? false
            require(calls.begin(slot: slot, by: .passUnretained(runner)) == isToRun, "whether \(slot) is to run")
            model[slot]?.runner = runner
        }
        require(calls.count == model.count && calls.held.count == byteCount, "how many")
        require(calls.isFull == (callCount >= limit || byteCount >= byteLimit), "whether it is full")
        require(calls.isDrained == (isDraining && model.isEmpty), "drained")
        require(calls.nextDeadline == model.values.filter { $0.stop == nil }.map(\.deadline).min(), "the next deadline")
        for slot in -1..<8 {
            let runner = model[slot]?.runner.map { Unmanaged.passUnretained($0).toOpaque() }
            require(calls.runner(of: slot)?.toOpaque() == runner, "who runs \(slot)")
        }
    }
}
