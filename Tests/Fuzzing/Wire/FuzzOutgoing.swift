// The calls that this end has made, against a list of them.

@testable import RPCWire

/// What a call is known to be.
private struct ModelCall {
    var id: Int64
    /// The number that it had first: what it is known by to who made it.
    let name: Int64
    let deadline: Instant
    let isRepeatable: Bool
    var place: ChannelOffset?
    var mayHaveArrived = false
    var mayHaveRun = false

    var removed: Removed {
        .init(id: id, name: name, wasSent: place != nil || mayHaveArrived || mayHaveRun, channel: place?.channel)
    }
    var isLost: Bool { mayHaveArrived && !isRepeatable }

    mutating func beginAnew() {
        mayHaveRun = mayHaveRun || mayHaveArrived
        mayHaveArrived = false
    }
}

/// What removing a call is to find out.
private struct Removed: Equatable {
    let id: Int64
    let name: Int64
    let wasSent: Bool
    let channel: Int?
}

extension OutgoingCalls.Removed {
    fileprivate var inModel: Removed { .init(id: id, name: Int64(handle.word), wasSent: wasSent, channel: channel) }
}

private struct Model {
    var calls: [ModelCall] = []
    private var last: Int64 = 0

    var sorted: [ModelCall] { calls.sorted { $0.id < $1.id } }

    /// The next number is this one; of those between some call has the place.
    mutating func note(_ number: Int64) {
        require(number > last && number - last <= calls.count + 1, "numbers grow by as little as they can")
        last = number
    }

    /// Takes these out, in the order of their numbers.
    mutating func take(_ isTaken: (ModelCall) -> Bool) -> [Removed] {
        defer { calls.removeAll(where: isTaken) }
        return sorted.filter(isTaken).map(\.removed)
    }

    mutating func renumber(_ index: Int, as id: Int64?) {
        guard let id else { return require(false, "a call is gone") }
        note(id)
        calls[index].id = id
        calls[index].place = nil
    }

    mutating func interrupt(_ channel: Int, _ sent: UInt64) {
        for index in calls.indices {
            guard let place = calls[index].place, place.channel == channel else { continue }
            calls[index].place = nil
            if place.offset < sent { calls[index].mayHaveArrived = true }
        }
    }

    /// - Parameter waiting: who waits afterwards.
    mutating func lose(_ channel: Int, _ sent: UInt64, _ waiting: [(id: Int64, handle: CallHandle)]) -> [Removed] {
        let concerned = sorted.filter { $0.place?.channel == channel }.map(\.name)
        interrupt(channel, sent)
        let lost = take { concerned.contains($0.name) && $0.isLost }
        for name in concerned {
            guard let index = calls.firstIndex(where: { $0.name == name }) else { continue }
            calls[index].beginAnew()
            renumber(index, as: waiting.first { $0.handle.word == UInt(name) }?.id)
        }
        return lost
    }
}

func fuzzOutgoing(_ dice: inout Dice) {
    var calls = OutgoingCalls()
    var model = Model()
    var names: Int64 = 0
    while !dice.isEmpty {
        let which = dice.roll()
        // One that is there, or one that never was.
        let index = model.calls.isEmpty || which == 255 ? nil : which % model.calls.count
        let chosen = index.map { model.calls[$0].id } ?? Int64(dice.roll()) + 1_000_000
        let channel = dice.roll(3)
        let isThere = index.map { model.calls[$0].place?.channel == channel } ?? false
        switch dice.roll(12) {
        case 0, 1, 2:
            let (deadline, isRepeatable) = (at(dice.roll()), dice.roll(2) == 0)
            names += 1
            let id = calls.start(
                .init(
                    CallHandle(word: UInt(names)), length: 1, deadline: deadline,
                    isRepeatable ? .waitsAndRepeats : .waits))
            model.note(id)
            model.calls.append(ModelCall(id: id, name: names, deadline: deadline, isRepeatable: isRepeatable))
        case 3: model.note(calls.takeNumber())
        case 4, 5:
            let place = ChannelOffset(channel: channel, offset: UInt64(dice.roll()))
            let mayHaveArrived = index.map { model.calls[$0].mayHaveArrived || model.calls[$0].mayHaveRun } ?? false
            require(calls.sent(chosen, at: place) == mayHaveArrived, "whether it may have arrived")
            if let index { model.calls[index].place = place }
        case 6:
            let expected = isThere ? index.map { UInt(model.calls[$0].name) } : nil
            require(calls.replied(to: chosen, over: channel)?.word == expected, "a reply to \(chosen)")
            if let index, isThere { model.calls.remove(at: index) }
        case 7:
            let refused = calls.refused(chosen, over: channel)
            let expected = isThere ? index.map { UInt(model.calls[$0].name) } : nil
            require(refused?.handle.word == expected, "a refusal of \(chosen)")
            if let index, isThere { model.renumber(index, as: refused?.id) }
        case 8:
            if dice.roll(2) == 0 {
                let withdrawn = calls.withdraw(chosen)?.inModel
                require(withdrawn == model.take { $0.id == chosen }.first, "withdrawing \(chosen)")
            } else {
                let now = at(dice.roll())
                require(calls.expire(at: now).map(\.inModel) == model.take { $0.deadline <= now }, "expiring at \(now)")
                calls.releaseRoom(beyond: 0)
            }
        case 9:
            let sent = UInt64(dice.roll())
            let lost = calls.lost(channel: channel, sent: sent).removed.map(\.inModel)
            require(lost == model.lose(channel, sent, calls.waiting), "a loss")
        case 10:
            let sent = UInt64(dice.roll())
            calls.interrupted(channel: channel, sent: sent)
            model.interrupt(channel, sent)
        default:
            if dice.roll(2) == 0 {
                let received = Int64(dice.roll()) - 1
                calls.resumed(over: channel, received: received)
                for index in model.calls.indices
                where model.calls[index].place == nil && model.calls[index].mayHaveArrived {
                    model.calls[index].mayHaveArrived = false
                    if model.calls[index].id <= received {
                        model.calls[index].place = .init(channel: channel, offset: 0)
                    }
                }
            } else {
                let lost = calls.restarted().map(\.inModel)
                require(lost == model.take { $0.place == nil && $0.isLost }, "another session")
                for index in model.calls.indices where model.calls[index].place == nil {
                    model.calls[index].beginAnew()
                }
            }
        }
        compare(calls, model)
    }
    require(calls.removeAll().map(\.inModel) == model.take { _ in true } && calls.count == 0, "the end")
}

private func compare(_ calls: OutgoingCalls, _ model: Model) {
    require(calls.count == model.calls.count, "\(calls.count) calls, in the model \(model.calls.count)")
    let waiting = model.sorted.filter { $0.place == nil }
    require(calls.waiting.map(\.id) == waiting.map(\.id), "who waits")
    require(calls.waiting.map(\.handle.word) == waiting.map { UInt($0.name) }, "what the driver keeps of them")
    require(calls.nextDeadline == model.calls.map(\.deadline).min(), "the next deadline")
    for channel in 0..<3 {
        require(calls.isWaiting(on: channel) == model.calls.contains { $0.place?.channel == channel }, "who is awaited")
    }
}
