// L9: calls and their cancellations without pause. A cancelled call keeps its place until its subject has returned.

import BenchSystem
import RawEcho
import RemoteProxy

extension Scenario {
    static let callAndCancel = Scenario(
        name: "L9", summary: "100,000 pairs of call and cancellation",
        claims: [.firm("answered_once", .atLeast(100_000)), .firm("most_running", .atMost(1_024))]
    ) { site in
        // So that calls have begun when they are cancelled.
        let (count, block) = (100_000, 1_000)
        let answered = try await onThread {
            let connection = try RawConnection(to: site.url)
            let bytes = stride(from: 0, to: count, by: block).flatMap { first in
                let ids = first..<first + block
                return ids.flatMap { connection.frame(request("Furnace.nap", "[10]", id: $0)) }
                    + ids.flatMap {
                        connection.frame(#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":\#($0)}}"#)
                    }
            }
            Task.detached { _ = try await onThread { try connection.send(bytes) } }
            var missing = Set(0..<count)
            for _ in 0..<count {
                if let id = identifier(of: try connection.hear()) { missing.remove(id) }
            }
            return count - missing.count
        }
        var figures = Figures()
        figures["answered_once"] = Double(answered)
        figures["most_running"] = Double(try await FurnaceProxy(RPCClient(site.url)).mostNaps())
        return figures
    }
}
