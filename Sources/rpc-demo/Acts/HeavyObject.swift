// A costly object that is made when it is first needed, in a module that shows only its proxy.

import Protocols
import RPCServer
import RemoteProxy
import Subjects

struct HeavyObject: Act {
    let title = "A heavy object behind a module's border"
    let story =
        "The module Subjects has a table of prime numbers that takes a while to make. All it shows is a\n"
        + "function that answers with a lazy proxy. What is behind the proxy cannot even be named here."

    func play(on stage: Stage) async throws {
        let server = RPCServer()
        try await stage.show("server.export(primes())") {
            server.export(primes())
        }
        try stage.show("tables made so far", primeTablesMade(), expecting: 0)
        let client = RPCClient(try await server.listen(on: "tcp://127.0.0.1:0"))
        let proxy = PrimesProxy(client)

        stage.says("A hundred callers come at once, and all wait for the one table that the first has made:")
        try await stage.show(
            "a hundred times: how many are there up to 10?", as: { "\($0.count) answers" },
            where: { $0 == Array(repeating: 4, count: 100) }
        ) {
            try await answers(from: proxy)
        }
        try await stage.show("try await proxy.tablesMade()", expecting: 1) {
            try await proxy.tablesMade()
        }
        stage.says("From then on the table is there:")
        try await stage.show("try await proxy.count(upTo: 100)", expecting: 25) {
            try await proxy.count(upTo: 100)
        }
        client.close()
        await server.stop()
    }

    private func answers(from proxy: PrimesProxy) async throws -> [Int] {
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<100 { group.addTask { try await proxy.count(upTo: 10) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }
}
