// The session machines against models that are too simple to be wrong: what the input's bytes say happens to both.
// The calls that this end has made, and those that it runs, have files of their own.

@testable import RPCWire

func fuzzSession(_ bytes: UnsafeRawBufferPointer) {
    var dice = Dice(bytes)
    switch dice.roll(6) {
    case 0: fuzzOutgoing(&dice)
    case 1: fuzzIncoming(&dice)
    case 2: fuzzReconnection(&dice)
    case 3: fuzzKept(&dice)
    case 4: fuzzReceipts(&dice)
    default: fuzzLife(&dice)
    }
}

func at(_ time: Int) -> Instant { Instant(nanoseconds: Int64(time)) }

private func fuzzKept(_ dice: inout Dice) {
    var kept = KeptMessages()
    var model: [(number: Int64, message: [UInt8], isDropped: Bool)] = []
    var last: Int64 = 0
    func release(through number: Int64) {
        while let first = model.first, first.number <= number || first.isDropped { model.removeFirst() }
    }
    while !dice.isEmpty {
        switch dice.roll(6) {
        case 0:
            let number = last - Int64(dice.roll(80))
            kept.release(through: number)
            release(through: number)
        case 1:
            let part = Int64(dice.roll(3)) + 1
            var count = 0
            for index in model.indices where !model[index].isDropped && model[index].number % part == 0 {
                model[index].isDropped = true
                count += 1
            }
            if model.allSatisfy(\.isDropped) { release(through: last) }
            require(kept.drop { number, _, _, _ in number % part == 0 } == count, "how many were dropped")
        default:
            let number = last + Int64(dice.roll(4))
            let message = [UInt8](repeating: UInt8(dice.roll()), count: dice.roll() * dice.roll(4))
            message.withUnsafeBytes { bytes in
                if number % 4 == 3 {
                    kept.keep(shared: Bytes(copying: bytes), number: number)
                } else {
                    kept.keep(bytes, number: number)
                }
            }
            if number > last {
                model.append((number, message, false))
                last = number
            }
        }
        kept.releaseRoom()
        let (count, isEmpty) = (model.count { !$0.isDropped }, model.isEmpty)
        require(kept.count == count && kept.isEmpty == isEmpty && kept.last == last, "how many are kept")
        require(kept.byteCount == model.reduce(0) { $0 + $1.message.count }, "how much is kept")
    }
    for (message, expected) in zip(kept.messages, model.filter { !$0.isDropped }) {
        let bytes = message.message.withUnsafeBytes { Array($0) }
        require(message.number == expected.number && bytes == expected.message, "message \(expected.number)")
    }
}

private func fuzzReceipts(_ dice: inout Dice) {
    var receipts = Receipts()
    var (highest, replies, transfers): (Int64, Int64, Int64) = (0, 0, 0)
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
        case 3:
            let number = transfers &+ Int64(dice.roll(4)) &- 1
            let isNew = number <= transfers ? false : number == transfers + 1 ? true : nil
            require(receipts.transfer(number, bytes: bytes) == isNew, "transfer \(number)")
            guard isNew == true else { break }
            transfers = number
            (unreported, unreportedBytes, hasPosts) = (unreported + 1, unreportedBytes + bytes, true)
        case 4, 5, 6:
            receipts.reply(bytes: bytes)
            (replies, unreported, unreportedBytes) = (replies + 1, unreported + 1, unreportedBytes + bytes)
        default:
            receipts.reported()
            (unreported, unreportedBytes, hasPosts) = (0, 0, false)
        }
        let isRight = receipts.requests == highest && receipts.replies == replies && receipts.transfers == transfers
        require(isRight, "how far it has come")
        let isMuch = unreportedBytes >= Receipts.byteInterval
        let isDue = isMuch || unreported >= Receipts.interval
        let expected: Receipts.Report = isDue ? (isMuch || hasPosts ? .atOnce : .along) : .notYet
        require(receipts.report == expected, "\(receipts.report), not \(expected)")
    }
}

private func fuzzLife(_ dice: inout Dice) {
    var life = Life()
    var phase = Life.Phase.greeting
    var grace: Duration?
    var now = 0
    while !dice.isEmpty {
        now += dice.roll(20)
        let isOver = phase == .over
        switch dice.roll(7) {
        case 0:
            require(life.greeted() == (phase == .greeting), "greeted in \(phase)")
            if phase == .greeting { phase = .open }
        case 1:
            life.closes()
            if phase == .greeting || phase == .open { phase = .closing }
        case 2:
            let time = Duration.nanoseconds(dice.roll())
            life.goesOn(for: time)
            if !isOver { grace = time }
        case 3:
            life.endsWithChannel()
            grace = nil
        case 4:
            require(life.lost(at: at(now)) == (grace != nil), "lost in \(phase)")
            if let grace { phase = .lost(until: at(now).advanced(by: grace)) }
        case 5:
            life.resumed()
            if !isOver { phase = .open }
        default:
            require(life.end() != isOver, "ended in \(phase)")
            (phase, grace) = (.over, nil)
        }
        require(life.phase == phase && life.isResumable == (grace != nil), "\(life), not \(phase)")
    }
}

private func fuzzReconnection(_ dice: inout Dice) {
    let base = Duration.nanoseconds(dice.roll())
    var machine = Reconnection(backoff: ExponentialBackoff(base: base, limit: .nanoseconds(dice.roll() * 10)))
    var (now, connectedAt, mayBeShort) = (0, 0, true)
    while !dice.isEmpty {
        let before = machine.phase
        let isHeard = before == .connecting || before == .connected
        now += dice.roll(20) * (dice.roll(4) == 0 ? 100_000_000 : 1)
        switch dice.roll(8) {
        case 0: require((machine.wanted() == .dial) == (before == .idle), "wanted in \(before)")
        case 1:
            require(machine.connected(at: at(now)) == (before == .connecting), "connected in \(before)")
            if before == .connecting { connectedAt = now }
        case 2:
            let wasOfUse = dice.roll(2) == 0
            let hasLasted = now - connectedAt >= 1_000_000_000
            let isAtOnce = before == .connected && (hasLasted || wasOfUse && mayBeShort)
            if isAtOnce { mayBeShort = hasLasted }
            switch machine.lost(at: at(now), chance: Double(dice.roll()) / 256, wasOfUse: wasOfUse) {
            case .wait(let until):
                require(isHeard && !isAtOnce && machine.phase == .waiting(until: until), "a wait")
                require(
                    !wasOfUse || at(now).duration(to: until) <= .seconds(1), "a long wait after a connection of use")
            case .dial: require(isAtOnce && machine.phase == .connecting, "dialled at once")
            case .nothing: require(!isHeard && machine.phase == before, "lost in \(before)")
            }
        case 3:
            if before == .connected, now - connectedAt >= 1_000_000_000 { mayBeShort = true }
            switch machine.left(at: at(now), chance: Double(dice.roll()) / 256) {
            case .wait(let until): require(isHeard && until >= at(now), "a wait")
            default: require(!isHeard && machine.phase == before, "left in \(before)")
            }
        case 4:
            let isWaiting = if case .waiting = before { true } else { false }
            require((machine.waited() == .dial) == isWaiting, "waited in \(before)")
        case 5:
            require(machine.pause() == (before != .paused && before != .closed), "paused in \(before)")
        case 6:
            require(machine.resume() == (before == .paused), "resumed in \(before)")
            require(machine.phase == (before == .paused ? .idle : before), "resumed in \(before)")
        default:
            switch dice.roll(8) {
            case 0: require(machine.close() == (before != .closed), "closed in \(before)")
            case 1: require(machine.rest() == (before == .connecting), "rested in \(before)")
            default: break
            }
        }
        require(before != .closed || machine.phase == .closed, "alive again")
    }
}
