// The session machines against models that are too simple to be wrong: what the input's bytes say happens to both.

@testable import RPCWire

func fuzzSession(_ bytes: UnsafeRawBufferPointer) {
    var dice = Dice(bytes)
    switch dice.roll(3) {
    case 0: fuzzOutgoing(&dice)
    case 1: fuzzIncoming(&dice)
    default: fuzzReconnection(&dice)
    }
}

private func at(_ time: Int) -> Instant { Instant(nanoseconds: Int64(time)) }

private func fuzzOutgoing(_ dice: inout Dice) {
    typealias Call = (ticket: OutgoingCalls.Ticket, deadline: Instant, place: OutgoingCalls.Place?)
    var calls = OutgoingCalls()
    var model: [Call] = []
    var all: [OutgoingCalls.Ticket] = []

    /// Takes out of the model what the machine has to take out.
    func take(_ isTaken: (Call) -> Bool) -> [OutgoingCalls.Removed] {
        defer { model.removeAll(where: isTaken) }
        return model.filter(isTaken).map { .init(ticket: $0.ticket, wasSent: $0.place != nil) }
    }
    while !dice.isEmpty {
        let which = dice.roll()
        let chosen = all.isEmpty ? .init(id: Int64(dice.roll()), slot: dice.roll()) : all[which % all.count]
        let index = model.firstIndex { $0.ticket == chosen }
        let stream = dice.roll(3)
        switch dice.roll(8) {
        case 0, 1:
            let deadline = at(dice.roll())
            let ticket = calls.start(deadline: deadline)
            model.append((ticket, deadline, nil))
            all.append(ticket)
        case 2:
            let place = OutgoingCalls.Place(stream: stream, offset: UInt64(dice.roll()))
            calls.sent(chosen, at: place)
            if let index { model[index].place = place }
        case 3:
            let expected = index.flatMap { model[$0].place?.stream == stream ? chosen : nil }
            require(calls.replied(to: chosen.id, over: stream) == expected, "a reply to \(chosen)")
            if expected != nil, let index { model.remove(at: index) }
        case 4:
            let expected = index.flatMap { model[$0].place?.stream == stream ? chosen : nil }
            require(calls.refused(chosen.id, over: stream) == expected, "a refusal of \(chosen)")
            if expected != nil, let index { model[index].place = nil }
        case 5: require(calls.withdraw(chosen) == take { $0.ticket == chosen }.first, "withdrawing \(chosen)")
        case 6:
            let now = at(dice.roll())
            require(calls.expire(at: now) == take { $0.deadline <= now }, "expiring at \(now)")
        default:
            let sent = UInt64(dice.roll())
            for index in model.indices
            where model[index].place.map({ $0.stream == stream && $0.offset >= sent }) ?? false {
                model[index].place = nil
            }
            require(calls.lost(stream: stream, sent: sent) == take { $0.place?.stream == stream }, "a loss")
        }
        require(calls.count == model.count, "\(calls.count) calls, in the model \(model.count)")
        require(calls.waiting == model.filter { $0.place == nil }.map(\.ticket), "who waits")
        require(calls.nextDeadline == model.map(\.deadline).min(), "the next deadline")
        for stream in 0..<3 {
            require(calls.isWaiting(on: stream) == model.contains { $0.place?.stream == stream }, "who is waited for")
        }
    }
    require(calls.removeAll() == take { _ in true } && calls.count == 0, "the end")
}

private func fuzzIncoming(_ dice: inout Dice) {
    let limit = dice.roll(8)
    var calls = IncomingCalls(limit: limit)
    var model: [Int: (id: RPCIdentifier?, deadline: Instant, stop: IncomingCalls.Stop?)] = [:]
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
            switch calls.start(id, deadline: deadline) {
            case .run(let slot):
                require(!isDraining && model.count < limit && model[slot] == nil, "ran when it must not")
                model[slot] = (id, deadline, nil)
            case .busy(let told): require(!isDraining && model.count == limit && told == limit, "busy")
            case .draining: require(isDraining, "draining")
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
                require(calls.connectionLost() == stopped(.cancelled) { _, _ in true }, "a loss")
            } else {
                require(calls.peerLeft() == stopped(.cancelled) { id, _ in id != nil }, "a leave")
            }
        default:
            guard dice.roll(8) == 0 else { break }
            calls.drain()
            isDraining = true
        }
        require(calls.count == model.count && calls.isFull == (model.count >= limit), "how many")
        require(calls.isDrained == (isDraining && model.isEmpty), "drained")
        require(calls.nextDeadline == model.values.filter { $0.stop == nil }.map(\.deadline).min(), "the next deadline")
    }
}

private func fuzzReconnection(_ dice: inout Dice) {
    var machine = Reconnection(backoff: Backoff(base: .nanoseconds(dice.roll()), limit: .nanoseconds(dice.roll() * 10)))
    while !dice.isEmpty {
        let before = machine.phase
        switch dice.roll(5) {
        case 0: require((machine.wanted() == .dial) == (before == .idle), "wanted in \(before)")
        case 1: require(machine.connected() == (before == .connecting), "connected in \(before)")
        case 2:
            let now = at(dice.roll())
            let isHeard = before == .connecting || before == .connected
            switch machine.lost(at: now, chance: Double(dice.roll()) / 256) {
            case .wait(let until): require(isHeard && until >= now && machine.phase == .waiting(until: until), "a wait")
            default: require(!isHeard && machine.phase == before, "lost in \(before)")
            }
        case 3:
            let isWaiting = if case .waiting = before { true } else { false }
            require((machine.waited() == .dial) == isWaiting, "waited in \(before)")
        default:
            guard dice.roll(8) == 0 else { break }
            require(machine.close() == (before != .closed), "closed in \(before)")
        }
        require(before != .closed || machine.phase == .closed, "alive again")
    }
}
