// Many connections that have each made one call, and then make none.

import RemoteProxy
import SampleProtocols

enum IdleConnections {
    /// A client each; they stay connected for as long as somebody keeps the proxies.
    static func open(_ count: Int, to url: Endpoint) async throws -> [CalculatorProxy] {
        try await withThrowingTaskGroup(of: [CalculatorProxy].self) { group in
            for _ in 0..<50 {
                group.addTask {
                    var proxies: [CalculatorProxy] = []
                    for _ in 0..<count / 50 {
                        let proxy = CalculatorProxy(RPCClient(url))
                        try check(await proxy.add(1, 2) == 3)
                        proxies.append(proxy)
                    }
                    return proxies
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }
}
