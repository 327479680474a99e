// L6: one connection asks for answers as large as a frame and hardly reads them; what it costs, and whom. Its neighbours are
// compared with those of a server that has no such guest, in turns, since the machine may be busier now than it was before.

import BenchSystem
import Glibc
import RawEcho
import RemoteProxy
import SampleProtocols

extension Scenario {
    private static let frame = 16 << 20

    static let slowReader = Scenario(
        name: "L6", summary: "16 MiB answers read at 100 kB/s, small calls beside",
        claims: [
            // Two answers may be in the making, since another thread continues for one that computes: each as a text and as JSON.
            // Two more wait to be sent.
            .firm("frames_held", .atMost(7)), .firm("small", .atLeast(1)), .timed("others_p99_ratio", .atMost(2)),
        ], seconds: 5
    ) { site in
        let calculator = CalculatorProxy(RPCClient(site.url))
        let control = try Child(.serve, ["L6"])
        let elsewhere = try CalculatorProxy(RPCClient(Endpoint(control.firstLine())))
        for calculator in [calculator, elsewhere] {
            _ = try await sequentially(calculator, until: bench_now() + 300_000_000)
        }
        let furnace = FurnaceProxy(RPCClient(site.url))
        let before = try await furnace.heldBytes()
        let slow = try RawConnection(to: site.url)
        slow.setReceiveBuffer(65_536)
        for id in 1...4 { try slow.send(slow.frame(request("Furnace.text", "[\(frame - 1_024)]", id: id))) }
        let end = bench_now() + UInt64(site.seconds * 1e9)
        let reading = Task {
            while bench_now() < end {
                _ = slow.skip(10_000)
                try await Task.sleep(for: .milliseconds(100))
            }
        }
        // The first one is made in the meantime.
        try await Task.sleep(for: .milliseconds(300))
        var (beside, alone, mostHeld) = (Latencies(), Latencies(), before)
        while bench_now() < end {
            beside.add(try await sequentially(calculator, until: bench_now() + 5_000_000))
            alone.add(try await sequentially(elsewhere, until: bench_now() + 5_000_000))
            mostHeld = max(mostHeld, try await furnace.heldBytes())
        }
        try await reading.value
        _ = consume control
        var figures = Figures()
        figures["frames_held"] = Double(mostHeld - before) / Double(frame)
        figures["small"] = Double(beside.total)
        figures["others_p99_ms"] = beside.percentile(0.99) / 1_000
        figures["others_p99_ratio"] = beside.percentile(0.99) / alone.percentile(0.99)
        return figures
    }
}
