// The session machines against models that are too simple to be wrong: what the input's bytes say happens to both.
// The calls that this end has made have a file of their own.

@testable import RPCWire

func fuzzSession(_ bytes: UnsafeRawBufferPointer) {
    var dice = Dice(bytes)
    switch dice.roll(6) {
    case 0: fuzzOutgoing(&dice)
    case 1: fuzzIncoming(&dice)
    case 2: fuzzReconnection(&dice)
    case 3: fuzzKept(&dice)
    case 4: fuzzReceipts(&dice)
    default: fuzzPhase(&dice)
    }
}

func at(_ time: Int) -> Instant { Instant(nanoseconds: Int64(time)) }

private func fuzzKept(_ dice: inout Dice) {
    var kept = KeptMessages()
    var model: [(number: Int64, message: [UInt8])] = []
    var last: Int64 = 0
    while !dice.isEmpty {
        if dice.roll(4) > 0 {
            let number = last + Int64(dice.roll(4))
            let message = [UInt8](repeating: UInt8(dice.roll()), count: dice.roll() * dice.roll(4))
            message.withUnsafeBytes { kept.keep($0, number: number) }
            if number > last {
                model.append((number, message))
                last = number
            }
        } else {
            let number = last - Int64(dice.roll(80))
            kept.release(through: number)
            model.removeAll { $0.number <= number }
        }
        require(kept.count == model.count && kept.isEmpty == model.isEmpty && kept.last == last, "how many are kept")
        require(kept.byteCount == model.reduce(0) { $0 + $1.message.count }, "how much is kept")
    }
    for (message, expected) in zip(kept.messages, model) {
        let bytes = message.message.withUnsafeBytes { Array($0) }
        require(message.number == expected.number && bytes == expected.message, "message \(expected.number)")
    }
}

private func fuzzReceipts(_ dice: inout Dice) {
    var receipts = Receipts()
    var (highest, replies): (Int64, Int64) = (0, 0)
    var (unreported, unreportedBytes, hasPosts) = (0, 0, false)
    while !dice.isEmpty {
        let bytes = dice.roll() * dice.roll(8) * dice.roll(8)
        switch dice.roll(8) {
        case 0, 1, 2:
            let isPost = dice.roll(2) == 0
            let number = dice.roll(8) == 0 ? [.min, -1, 0, .max][dice.roll(4)] : highest &+ Int64(dice.roll(5)) &- 1
            let isNew = number > highest
            require(receipts.request(number, isPost: isPost, bytes: bytes) == isNew, "request \(number)")
            guard isNew else { break }
            highest = number
            if isPost { (unreported, unreportedBytes, hasPosts) = (unreported + 1, unreportedBytes + bytes, true) }
        case 3, 4, 5, 6:
            receipts.reply(bytes: bytes)
            (replies, unreported, unreportedBytes) = (replies + 1, unreported + 1, unreportedBytes + bytes)
        default:
            receipts.reported()
            (unreported, unreportedBytes, hasPosts) = (0, 0, false)
        }
        require(receipts.requests == highest && receipts.replies == replies, "how far it has come")
        let isMuch = unreportedBytes >= Receipts.byteInterval
        let isDue = isMuch || unreported >= Receipts.interval
        let expected: Receipts.Report = isDue ? (isMuch || hasPosts ? .atOnce : .along) : .notYet
        require(receipts.report == expected, "\(receipts.report), not \(expected)")
    }
}

private func fuzzPhase(_ dice: inout Dice) {
    var phase = ConnectionPhase()
    var step = ConnectionPhase.Step.greeting
    while !dice.isEmpty {
        switch dice.roll(3) {
        case 0:
            require(phase.greeted() == (step == .greeting), "greeted in \(step)")
            if step == .greeting { step = .open }
        case 1:
            phase.left()
            if step != .over { step = .ending }
        default:
            require(phase.closed() == (step != .over), "closed in \(step)")
            step = .over
        }
        require(phase.step == step, "\(phase.step), not \(step)")
    }
}

private func fuzzIncoming(_ dice: inout Dice) {
    let limit = dice.roll(8)
    let byteLimit = 12
    var calls = IncomingCalls(limit: limit, byteLimit: byteLimit)
    var model: [Int: (id: RPCIdentifier?, deadline: Instant, stop: IncomingCalls.Stop?, bytes: Int)] = [:]
    var byteCount: Int { model.values.reduce(0) { $0 + $1.bytes } }
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
                let mayRun = isPost || !isDraining && model.count < limit && byteCount < byteLimit
                require(mayRun && model[slot] == nil, "ran when it must not")
                model[slot] = (id, deadline, nil, bytes)
            case .busy(.maximumRequestsInFlight, let most):
                require(!isDraining && !isPost && model.count >= limit && most == limit, "busy")
            case .busy(let which, let most):
                require(which == .maximumBytesInFlight && most == byteLimit, "busy with \(which)")
                require(!isDraining && !isPost && model.count < limit && byteCount >= byteLimit, "busy with bytes")
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
        case 5:
            if dice.roll(2) == 0 {
                require(calls.sessionEnded() == stopped(.cancelled) { _, _ in true }, "a loss")
            } else {
                require(calls.peerLeft() == stopped(.cancelled) { id, _ in id != nil }, "a leave")
            }
        default:
            guard dice.roll(8) == 0 else { break }
            calls.drain()
            isDraining = true
        }
        require(calls.count == model.count && calls.held.count == byteCount, "how many")
        require(calls.isFull == (model.count >= limit || byteCount >= byteLimit), "whether it is full")
        require(calls.isDrained == (isDraining && model.isEmpty), "drained")
        require(calls.nextDeadline == model.values.filter { $0.stop == nil }.map(\.deadline).min(), "the next deadline")
    }
}

private func fuzzReconnection(_ dice: inout Dice) {
    let base = Duration.nanoseconds(dice.roll())
    var machine = Reconnection(backoff: Backoff(base: base, limit: .nanoseconds(dice.roll() * 10)))
    var (now, connectedAt) = (0, 0)
    while !dice.isEmpty {
        let before = machine.phase
        let isHeard = before == .connecting || before == .connected
        now += dice.roll(20)
        switch dice.roll(6) {
        case 0: require((machine.wanted() == .dial) == (before == .idle), "wanted in \(before)")
        case 1:
            require(machine.connected(at: at(now)) == (before == .connecting), "connected in \(before)")
            if before == .connecting { connectedAt = now }
        case 2:
            let wasOfUse = dice.roll(2) == 0
            let isAtOnce = before == .connected && (wasOfUse || .nanoseconds(now - connectedAt) >= base)
            switch machine.lost(at: at(now), chance: Double(dice.roll()) / 256, wasOfUse: wasOfUse) {
            case .wait(let until): require(isHeard && !isAtOnce && machine.phase == .waiting(until: until), "a wait")
            case .dial: require(isAtOnce && machine.phase == .connecting, "dialled at once")
            case .nothing: require(!isHeard && machine.phase == before, "lost in \(before)")
            }
        case 3:
            switch machine.left(at: at(now), chance: Double(dice.roll()) / 256) {
            case .wait(let until): require(isHeard && until >= at(now), "a wait")
            default: require(!isHeard && machine.phase == before, "left in \(before)")
            }
        case 4:
            let isWaiting = if case .waiting = before { true } else { false }
            require((machine.waited() == .dial) == isWaiting, "waited in \(before)")
        default:
            guard dice.roll(8) == 0 else { break }
            require(machine.close() == (before != .closed), "closed in \(before)")
        }
        require(before != .closed || machine.phase == .closed, "alive again")
    }
}
