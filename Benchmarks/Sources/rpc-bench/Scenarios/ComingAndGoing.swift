// L8: connections that come and go, in good order and not.

import BenchSystem
import Glibc
import RawEcho

extension Scenario {
    static let comingAndGoing = Scenario(
        name: "L8", summary: "2,000 times connect and close, 2,000 times connect and reset",
        claims: [
            .firm("descriptors_more", .atMost(0)), .firm("answered", .atLeast(1)),
            .timed("descriptors_back_s", .atMost(2)),
            .timed("next_call_ms", .atMost(100)),
        ]
    ) { site in
        try await onThread {
            let neighbour = try RawConnection(to: site.url)
            let call = request("Calculator.add", "[1,2]", id: 1)
            _ = try neighbour.ask(call)
            let before = try ProcessState(of: site.server).descriptors
            for isReset in [false, true] {
                for number in 0..<2_000 {
                    let connection = try RawConnection(to: site.url)
                    // Some say something before they go, and some a part of it.
                    if number % 3 == 0 { try connection.send(connection.frame(call)) }
                    if number % 3 == 1 { try connection.send(Array(connection.frame(call).prefix(20))) }
                    if isReset { connection.endsWithReset() }
                }
            }
            let end = bench_now()
            var figures = Figures()
            figures["answered"] = try neighbour.ask(call).hasSuffix("\"result\":3}") ? 1 : 0
            figures["next_call_ms"] = Double(bench_now() - end) / 1e6
            var now = try ProcessState(of: site.server).descriptors
            while now > before, bench_now() < end + 20_000_000_000 {
                usleep(10_000)
                now = try ProcessState(of: site.server).descriptors
            }
            figures["descriptors_back_s"] = Double(bench_now() - end) / 1e9
            figures["descriptors_more"] = Double(now - before)
            return figures
        }
    }
}
