// The proxy's thread: waits for its sockets, moves bytes between them, and does to them what the settings say.

import Foundation
import RPCSockets
import RPCWire

/// `@unchecked Sendable`: everything in here belongs to the one thread that `run` is called on.
final class FaultLoop: @unchecked Sendable {
    private struct Link {
        var flows: [Way: Flow]
        /// Cut in good order: gone when both sides have closed, or at this moment.
        var goneAt: Instant?

        var isOver: Bool { flows.values.allSatisfy { $0.hasEnded && $0.isFinished } }
    }

    /// How long the sides of a connection that was cut may take to close it.
    private static let patience = Duration.seconds(1)

    private let listener: RawDescriptor
    private let wakening: RawDescriptor
    private let shared: SharedFaults
    private var links: [Link] = []
    private var corruption: [Way: Corruption] = [:]
    private var plan: CutPlan?
    private var nextPiece = Instant(nanoseconds: .min)

    init(_ listener: RawDescriptor, wakenBy wakening: RawDescriptor, _ shared: SharedFaults) {
        self.listener = listener
        self.wakening = wakening
        self.shared = shared
        listener.prepare()
        wakening.prepare()
    }

    func run() {
        while true {
            let ready = wait(shared.settings.withLock { $0 })
            // Nobody changes the settings while they are acted on: a change that has returned holds for all that comes
            // after it.
            let isOver = shared.settings.withLock { settings in
                turn(ready, &settings)
                return settings.isOver
            }
            if isOver { return }
        }
    }

    private func turn(_ ready: Set<Int32>, _ settings: inout FaultSettings) {
        if let plan = settings.plan.take() { self.plan = plan }
        if let corruption = settings.corruption.take() { self.corruption = corruption }
        for cut in settings.cuts { for index in links.indices { apply(cut, to: index) } }
        settings.cuts = []
        while let client = listener.accepted() { connect(client, settings) }
        move(ready, settings)
        let now = MonotonicClock.now
        links.removeAll { $0.isOver || $0.goneAt.map { $0 <= now } ?? false }
    }

    private func wait(_ settings: FaultSettings) -> Set<Int32> {
        let now = MonotonicClock.now
        let isStalled = settings.stalledUntil > now
        let isPausing = nextPiece > now
        var entries = [listener, wakening].map { pollfd(fd: $0.number, events: Int16(POLLIN), revents: 0) }
        for flow in links.lazy.flatMap(\.flows.values) where !isStalled || flow.isDiscarding {
            if flow.wantsToRead {
                entries.append(pollfd(fd: flow.source.number, events: Int16(POLLIN), revents: 0))
            }
            if flow.wantsToWrite, !isPausing {
                entries.append(pollfd(fd: flow.target.number, events: Int16(POLLOUT), revents: 0))
            }
        }
        let until =
            links.compactMap(\.goneAt) + (isStalled ? [settings.stalledUntil] : []) + (isPausing ? [nextPiece] : [])
        let milliseconds = until.min().map { min(now.duration(to: $0).nanoseconds / 1_000_000 + 1, 60_000) } ?? -1
        guard poll(&entries, nfds_t(entries.count), Int32(max(milliseconds, -1))) > 0 else { return [] }
        if entries[1].revents != 0 {
            var window = [UInt8](repeating: 0, count: 256)
            _ = read(wakening.number, &window, window.count)
        }
        return Set(entries.lazy.filter { $0.revents != 0 }.map(\.fd))
    }

    private func connect(_ client: RawDescriptor, _ settings: FaultSettings) {
        guard !settings.isRefusing, let server = try? RawDescriptor.connected(to: settings.target) else {
            return client.resetOnClose()
        }
        client.prepare()
        server.prepare()
        shared.counts.withLock { $0.connections += 1 }
        links.append(
            Link(flows: [.toServer: Flow(from: client, to: server), .toClient: Flow(from: server, to: client)]))
    }

    private func move(_ ready: Set<Int32>, _ settings: FaultSettings) {
        let now = MonotonicClock.now
        let isStalled = settings.stalledUntil > now
        for index in links.indices {
            for way in Way.allCases {
                guard var flow = links[index].flows[way], !isStalled || flow.isDiscarding else { continue }
                if flow.wantsToRead, ready.contains(flow.source.number) { flow.read { corrupt(&$0, way) } }
                guard nextPiece <= now else {
                    links[index].flows[way] = flow
                    continue
                }
                let count = flow.write(atMost: min(settings.piece, plan?.next ?? .max))
                links[index].flows[way] = flow
                if count > 0 { passed(count, over: index, settings.pause) }
            }
        }
    }

    private func corrupt(_ bytes: inout [UInt8], _ way: Way) {
        guard let changed = corruption[way]?.apply(to: &bytes), changed > 0 else { return }
        shared.counts.withLock { $0.corrupted += changed }
    }

    private func passed(_ count: Int, over index: Int, _ pause: Duration) {
        if pause > .zero { nextPiece = MonotonicClock.now.advanced(by: pause) }
        shared.counts.withLock { $0.bytes += count }
        if let cut = plan?.passed(count) { apply(cut, to: index) }
    }

    private func apply(_ cut: Cut, to index: Int) {
        guard links[index].goneAt == nil else { return }
        shared.counts.withLock { $0.cuts += 1 }
        let now = MonotonicClock.now
        for way in Way.allCases {
            switch cut {
            case .halfClose(let closed): if way == closed { links[index].flows[way]?.finish() }
            case .finish: links[index].flows[way]?.finish()
            case .reset:
                links[index].flows[way]?.source.resetOnClose()
                links[index].flows[way]?.isDiscarding = true
            }
        }
        switch cut {
        case .halfClose: break
        case .finish: links[index].goneAt = now.advanced(by: Self.patience)
        case .reset: links[index].goneAt = now
        }
    }
}
