// The calls that this end has made, against a list of them.

@testable import RPCWire

/// What a call is known to be.
private struct ModelCall {
    var ticket: OutgoingCalls.Ticket
    let deadline: Instant
    let isRepeatable: Bool
    var place: OutgoingCalls.Place?
    var mayHaveArrived = false

    var removed: OutgoingCalls.Removed {
        .init(ticket: ticket, wasSent: place != nil || mayHaveArrived, stream: place?.stream)
    }
    var isLost: Bool { mayHaveArrived && !isRepeatable }
}

private struct Model {
    var calls: [ModelCall] = []
    private var next: Int64 = 1

    var sorted: [ModelCall] { calls.sorted { $0.ticket.id < $1.ticket.id } }

    mutating func takeNumber() -> Int64 {
        defer { next += 1 }
        return next
    }

    /// Takes these out, in the order of their numbers.
    mutating func take(_ isTaken: (ModelCall) -> Bool) -> [OutgoingCalls.Removed] {
        defer { calls.removeAll(where: isTaken) }
        return sorted.filter(isTaken).map(\.removed)
    }

    mutating func renumber(_ index: Int) -> OutgoingCalls.Ticket {
        calls[index].ticket = .init(id: takeNumber(), slot: calls[index].ticket.slot)
        calls[index].place = nil
        return calls[index].ticket
    }

    mutating func interrupt(_ stream: Int, _ sent: UInt64) {
        for index in calls.indices {
            guard let place = calls[index].place, place.stream == stream else { continue }
            calls[index].place = nil
            if place.offset < sent { calls[index].mayHaveArrived = true }
        }
    }

    mutating func lose(_ stream: Int, _ sent: UInt64) -> [OutgoingCalls.Removed] {
        let concerned = sorted.filter { $0.place?.stream == stream }.map(\.ticket)
        interrupt(stream, sent)
        let lost = take { concerned.contains($0.ticket) && $0.isLost }
        for ticket in concerned {
            if let index = calls.firstIndex(where: { $0.ticket == ticket }) { _ = renumber(index) }
        }
        return lost
    }
}

func fuzzOutgoing(_ dice: inout Dice) {
    var calls = OutgoingCalls()
    var model = Model()
    while !dice.isEmpty {
        let which = dice.roll()
        // One that is there, or one that never was.
        let index = model.calls.isEmpty || which == 255 ? nil : which % model.calls.count
        let chosen = index.map { model.calls[$0].ticket } ?? .init(id: Int64(dice.roll()) + 1_000, slot: dice.roll(8))
        let stream = dice.roll(3)
        let isThere = index.map { model.calls[$0].place?.stream == stream } ?? false
        switch dice.roll(12) {
        case 0, 1, 2:
            let (deadline, isRepeatable) = (at(dice.roll()), dice.roll(2) == 0)
            let ticket = calls.start(deadline: deadline, isRepeatable: isRepeatable)
            require(ticket.id == model.takeNumber(), "numbers grow by one")
            require(!model.calls.contains { $0.ticket.slot == ticket.slot }, "a slot for two")
            model.calls.append(ModelCall(ticket: ticket, deadline: deadline, isRepeatable: isRepeatable))
        case 3: require(calls.takeNumber() == model.takeNumber(), "numbers grow by one")
        case 4, 5:
            let place = OutgoingCalls.Place(stream: stream, offset: UInt64(dice.roll()))
            let mayHaveArrived = index.map { model.calls[$0].mayHaveArrived } ?? false
            require(calls.sent(chosen, at: place) == mayHaveArrived, "whether it may have arrived")
            if let index { model.calls[index].place = place }
        case 6:
            require(calls.replied(to: chosen.id, over: stream) == (isThere ? chosen : nil), "a reply to \(chosen)")
            if let index, isThere { model.calls.remove(at: index) }
        case 7:
            let expected = index.flatMap { isThere ? model.renumber($0) : nil }
            require(calls.refused(chosen.id, over: stream) == expected, "a refusal of \(chosen)")
        case 8:
            if dice.roll(2) == 0 {
                require(calls.withdraw(chosen) == model.take { $0.ticket == chosen }.first, "withdrawing \(chosen)")
            } else {
                let now = at(dice.roll())
                require(calls.expire(at: now) == model.take { $0.deadline <= now }, "expiring at \(now)")
            }
        case 9:
            let sent = UInt64(dice.roll())
            require(calls.lost(stream: stream, sent: sent) == model.lose(stream, sent), "a loss")
        case 10:
            let sent = UInt64(dice.roll())
            calls.interrupted(stream: stream, sent: sent)
            model.interrupt(stream, sent)
        default:
            if dice.roll(2) == 0 {
                let received = Int64(dice.roll()) - 1
                calls.resumed(over: stream, received: received)
                for index in model.calls.indices
                where model.calls[index].place == nil && model.calls[index].mayHaveArrived {
                    model.calls[index].mayHaveArrived = false
                    if model.calls[index].ticket.id <= received {
                        model.calls[index].place = .init(stream: stream, offset: 0)
                    }
                }
            } else {
                require(calls.restarted() == model.take { $0.place == nil && $0.isLost }, "another session")
            }
        }
        compare(calls, model)
    }
    require(calls.removeAll() == model.take { _ in true } && calls.count == 0, "the end")
}

private func compare(_ calls: OutgoingCalls, _ model: Model) {
    require(calls.count == model.calls.count, "\(calls.count) calls, in the model \(model.calls.count)")
    require(calls.waiting == model.sorted.filter { $0.place == nil }.map(\.ticket), "who waits")
    require(calls.nextDeadline == model.calls.map(\.deadline).min(), "the next deadline")
    for stream in 0..<3 {
        require(calls.isWaiting(on: stream) == model.calls.contains { $0.place?.stream == stream }, "who is awaited")
    }
}
