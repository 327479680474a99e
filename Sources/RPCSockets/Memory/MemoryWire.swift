// What lies between the two ends of a channel in memory. Takes what one end does, and tells the other, by the rules of
// `MemoryWire+Ends.swift`. Never calls a receiver under its lock, and each receiver only on its own loop.

package import RPCWire

package final class MemoryWire: Sendable {
    package enum Side: Sendable {
        case left, right
        package var other: Side { self == .left ? .right : .left }
    }

    /// The place of one channel at the wire.
    package struct Port: Sendable {
        package let side: Side
        /// How many channels this side has had before. A former channel may write and end nothing any more.
        var number = 0
    }

    private let ends: Lock<Ends>

    init(_ left: MemoryEnd, _ right: MemoryEnd) { ends = Lock(Ends(left: End(left), right: End(right))) }

    private func loop(of side: Side) -> any Loop { ends.withLock { $0[side].settings.loop } }

    /// Does this later, on the loop of that end. The end may move before.
    private func onLoop(of side: Side, _ step: @escaping @Sendable () -> Void) {
        loop(of: side).submit { [self] in
            if loop(of: side).isCurrent { step() } else { onLoop(of: side, step) }
        }
    }

    // MARK: what the channels do

    func open(_ side: Side, _ receiver: any ByteReceiver) {
        ends.withLock { $0[side].receiver = receiver }
        scheduleDelivery(from: side.other)
        onLoop(of: side) { [self] in report(side) }
    }

    func write(_ port: Port, _ fill: (inout SendBuffer, UInt64) -> Void) -> UInt64 {
        ends.withLock { ends in
            let offset = ends[port.side].appended
            guard ends[port.side].isOpen(for: port) else { return offset }
            let before = ends[port.side].queued.count
            fill(&ends[port.side].queued, offset)
            ends[port.side].written(ends[port.side].queued.count - before)
            return offset
        }
    }

    func waiting(_ side: Side) -> Int { ends.withLock { $0[side].queued.count } }
    func isCrowded(_ side: Side) -> Bool { ends.withLock { $0[side].isCrowded } }
    func isReading(_ side: Side) -> Bool { ends.withLock { !$0[side].isPaused } }

    /// Puts on the way what fits.
    func send(_ side: Side) {
        let isNews = ends.withLock { ends in
            ends[side].putOnTheWay()
            return ends[side].countOutput()
        }
        if isNews { onLoop(of: side) { [self] in tellOutput(of: side) } }
        scheduleDelivery(from: side)
    }

    func resumeReading(_ side: Side) {
        let wasPaused = ends.withLock { exchange(&$0[side].isPaused, with: false) }
        if wasPaused { scheduleDelivery(from: side.other) }
    }

    func finish(_ port: Port) {
        let settings = ends.withLock { ends -> MemoryEnd? in
            guard ends[port.side].isOpen(for: port) else { return nil }
            ends[port.side].phase = .finishing
            // From now on, what arrives is thrown away.
            ends[port.side].isPaused = false
            return ends[port.side].settings
        }
        guard let settings else { return }
        scheduleDelivery(from: port.side.other)
        let loop = settings.loop
        let end = loop.now.advanced(by: settings.limits.linger)
        let timer = loop.schedule(at: end) { [self] in self.end(port.side, .local) }
        if !ends.withLock({ $0[port.side].keepLingering(timer) }) { timer.cancel() }
    }

    func end(_ port: Port, _ end: ChannelEnd) {
        if ends.withLock({ $0[port.side].number == port.number }) { self.end(port.side, end) }
    }

    /// No channel receives on that side until the new one is opened.
    func move(_ port: Port, to loop: any Loop) -> (Port, MemoryEnd)? {
        ends.withLock { ends in
            ends[port.side].putOnTheWay()
            guard ends[port.side].isOpen(for: port), ends[port.side].queued.isEmpty, !ends[port.side].hasReadEnd else {
                return nil
            }
            ends[port.side].move(to: loop)
            return (Port(side: port.side, number: ends[port.side].number), ends[port.side].settings)
        }
    }

    // MARK: what the ends are told, each on its loop

    /// Tells an end that its bytes wait, or that fewer do than before.
    private func tellOutput(of side: Side) {
        let (receiver, mayRead, waits) = ends.withLock { ends in
            let isLow = ends[side].queued.count <= ends[side].settings.limits.pauseReading / 2
            if isLow { ends[side].isCrowded = false }
            return (ends[side].receiver, isLow && ends[side].isPaused, !ends[side].queued.isEmpty)
        }
        if waits { startPatience(of: side) } else { ends.withLock { $0[side].patience.take() }?.cancel() }
        if mayRead { resumeReading(side) }
        receiver?.outputChanged()
    }

    /// Ends the channel if the other end takes no bytes for this time.
    private func startPatience(of side: Side) {
        let (settings, sent) = ends.withLock { ends -> (MemoryEnd?, UInt64) in
            let isNew = ends[side].patience == nil && !ends[side].hasEnded
            return (isNew ? ends[side].settings : nil, ends[side].sent)
        }
        guard let settings else { return }
        let timer = settings.loop.schedule(at: settings.loop.now.advanced(by: settings.limits.patience)) { [self] in
            patienceIsOver(of: side, sentBefore: sent)
        }
        if !ends.withLock({ $0[side].keepPatience(timer) }) { timer.cancel() }
    }

    private func patienceIsOver(of side: Side, sentBefore: UInt64) {
        let (sent, waiting, patience) = ends.withLock { ends in
            ends[side].patience = nil
            return (ends[side].sent, ends[side].queued.count, ends[side].settings.limits.patience)
        }
        guard waiting > 0 else { return }
        if sent > sentBefore { return startPatience(of: side) }
        let why = "the peer has taken none of \(waiting) waiting bytes for \(patience) (patience)"
        end(side, .overrun(.patience, why))
    }

    /// Ends one side; the other learns of it when it has received what is on the way.
    private func end(_ side: Side, _ end: ChannelEnd) {
        let timers = ends.withLock { $0[side].end(end) }
        guard let timers else { return }
        for timer in timers { timer.cancel() }
        onLoop(of: side) { [self] in report(side) }
        scheduleDelivery(from: side)
    }

    private func report(_ side: Side) {
        let told: (any ByteReceiver, ChannelEnd, UInt64)? = ends.withLock { ends in
            guard case .ended(let end) = ends[side].phase, let receiver = ends[side].receiver.take() else { return nil }
            return (receiver, end, ends[side].sent)
        }
        if let (receiver, end, sent) = told { receiver.ended(end, sentUpTo: sent) }
    }

    // MARK: what arrives

    private func scheduleDelivery(from side: Side) {
        let isNew = ends.withLock { !exchange(&$0[side].isDeliveryDue, with: true) }
        if isNew { onLoop(of: side.other) { [self] in deliver(from: side) } }
    }

    /// One turn of one direction, on the loop of the end that receives.
    private func deliver(from side: Side) {
        let mayRead = mayRead(side.other)
        let (arrival, isMore, isNews): (Arrival, Bool, Bool) = ends.withLock { ends in
            ends[side].isDeliveryDue = false
            guard mayRead, let receiver = ends[side.other].receiver, !ends[side.other].hasEnded else {
                return (.nothing, false, false)
            }
            let arrival = ends[side].takeArrival(for: ends[side.other].isFinishing ? nil : receiver)
            return (arrival, ends[side].hasMore, ends[side].countOutput())
        }
        if isNews { onLoop(of: side) { [self] in tellOutput(of: side) } }
        switch arrival {
        case .nothing: return
        case .bytes(let bytes, let receiver):
            receiver?.received(bytes)
            if isMore { scheduleDelivery(from: side) }
        case .broken(let end): cut(end)
        case .end(let receiver):
            if let receiver, readEnd(side.other, receiver) { return }
            end(side.other, .remote)
            // An end that has finished is told when its peer knows.
            end(side, .local)
        }
    }

    /// Whether bytes may be delivered to that end now. If not, its reading pauses. What an end has sent before it ended is always
    /// delivered.
    private func mayRead(_ side: Side) -> Bool {
        let (receiver, isPaused, isPeerSlow) = ends.withLock { ends -> ((any ByteReceiver)?, Bool, Bool) in
            if ends[side].isFinishing || ends[side.other].hasEnded { return (nil, false, false) }
            return (ends[side].receiver, ends[side].isPaused, ends[side].isPeerSlow)
        }
        if isPaused { return false }
        guard let receiver else { return true }
        let wantsMore = receiver.wantsMore
        if wantsMore, !isPeerSlow { return true }
        ends.withLock { $0[side].isPaused = true }
        if wantsMore { receiver.pausedReading() }
        return false
    }

    /// Tells an end, once, that the other sends no more. Returns whether it still has something to send.
    private func readEnd(_ side: Side, _ receiver: any ByteReceiver) -> Bool {
        let isKnown = ends.withLock { exchange(&$0[side].hasReadEnd, with: true) }
        return isKnown || receiver.peerFinished()
    }

    // MARK: what goes wrong, in tests

    /// What goes wrong with what one end sends.
    package func fault(of side: Side) -> (any WireFault)? { ends.withLock { $0[side].fault } }

    package func setFault(of side: Side, _ fault: any WireFault) {
        ends.withLock { $0[side].fault = fault }
        send(side)
    }

    /// How many bytes of what one end has sent have arrived.
    package func delivered(from side: Side) -> UInt64 { ends.withLock { $0[side].delivered } }

    /// Breaks the connection now. What is on the way in either direction is lost.
    /// - Parameter end: what both ends are told; nil if neither is told, and nothing arrives any more.
    package func cut(_ end: ChannelEnd?) {
        ends.withLock { ends in
            ends.left.loseEverything(isSilent: end == nil)
            ends.right.loseEverything(isSilent: end == nil)
        }
        guard let end else { return }
        self.end(.left, end)
        self.end(.right, end)
    }
}
