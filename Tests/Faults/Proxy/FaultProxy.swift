// Stands between a client and a server and passes on their bytes, until a test asks it to do otherwise. A socket on
// either side and a thread of its own: what goes wrong here goes wrong for real.

import Foundation
import RPCSockets
import RPCWire
package import RemoteProxy

package final class FaultProxy: Sendable {
    /// What has happened so far.
    package struct Counts: Sendable, Hashable {
        package var connections = 0
        package var cuts = 0
        package var bytes = 0
        package var corrupted = 0

        package init(connections: Int = 0, cuts: Int = 0, bytes: Int = 0, corrupted: Int = 0) {
            self.connections = connections
            self.cuts = cuts
            self.bytes = bytes
            self.corrupted = corrupted
        }
    }

    /// Where clients connect.
    package let url: Endpoint
    private let shared: SharedFaults
    private let waking: RawDescriptor
    /// Kept as well: where the thread has seen that it is over before it is woken, the last wake-up would reach nobody, and that
    /// would end the process.
    private let wakening: RawDescriptor

    /// A proxy for the server at `target`, on a port of its own.
    package init(to target: Endpoint) throws {
        let (listener, url) = try RawDescriptor.listening()
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw FaultToolError("pipe: errno \(errno)") }
        self.url = url
        waking = RawDescriptor(ends[1])
        wakening = RawDescriptor(ends[0])
        shared = SharedFaults(FaultSettings(target: target))
        let loop = FaultLoop(listener, wakenBy: wakening, shared)
        try SystemThread.start(name: "fault-proxy") { loop.run() }
    }

    deinit { change { $0.isOver = true } }

    package var counts: Counts { shared.counts.withLock { $0 } }

    /// Breaks every connection there is.
    package func cut(_ how: Cut = .finish) { change { $0.cuts.append(how) } }

    /// Breaks connections as the plan says, one after the other.
    package func cut(_ plan: CutPlan) { change { $0.plan = plan } }

    /// Passes nothing and closes nothing for so long; nil for until `resume`.
    package func stall(for duration: Duration? = nil) {
        let end = duration.map { MonotonicClock.now.advanced(by: $0) } ?? .distantFuture
        change { $0.stalledUntil = end }
    }

    package func resume() { change { $0.stalledUntil = Instant(nanoseconds: .min) } }

    /// Passes so many bytes at a time, with a pause between.
    package func drip(_ bytes: Int, every pause: Duration = .zero) {
        change { settings in
            settings.piece = bytes
            settings.pause = pause
        }
    }

    /// Changes a byte now and then.
    package func corrupt(_ ways: Way..., every distance: ClosedRange<Int>, seed: UInt64) {
        let corruption = ways.map { ($0, Corruption(seed: seed, every: distance)) }
        change { $0.corruption = Dictionary(uniqueKeysWithValues: corruption) }
    }

    /// Breaks every new connection at once, as if nobody listened, until `serve`.
    package func refuse() { change { $0.isRefusing = true } }

    package func serve() { change { $0.isRefusing = false } }

    /// New connections go elsewhere.
    package func lead(to target: Endpoint) { change { $0.target = target } }

    /// In force for every byte that is sent after this has returned.
    private func change(_ body: @Sendable (inout FaultSettings) -> Void) {
        shared.settings.withLock { body(&$0) }
        _ = write(waking.number, [0], 1)
    }
}

final class SharedFaults: Sendable {
    let settings: Lock<FaultSettings>
    let counts = Lock(FaultProxy.Counts())

    init(_ settings: FaultSettings) { self.settings = Lock(settings) }
}
