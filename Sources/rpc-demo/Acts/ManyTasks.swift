// One client, one connection, any number of tasks: nobody waits for anybody else's reply.

import Protocols
import RemoteProxy

struct ManyTasks: Act {
    let client: RPCClient

    let title = "Many tasks, one connection"
    let story = "A client is shared freely. Replies find their callers, in whatever order they come."

    func play(on stage: Stage) async throws {
        let echo: any Echo = EchoProxy(client)
        let counter: any Counter = CounterProxy(client)

        stage.says("Two hundred calls that take 100 ms each:")
        let all = Set((1...200).map { "number \($0)" })
        try await stage.show(
            #"try await inTasks(200) { try await echo.later("number \($0)", afterMilliseconds: 100) }"#,
            as: { "\($0.count) different replies" }, where: { $0 == all }
        ) {
            try await inTasks(200) { try await echo.later("number \($0)", afterMilliseconds: 100) }
        }

        stage.says("A shared counter, asked by two hundred tasks, gives no number twice:")
        try await stage.show(
            "try await inTasks(200) { _ in try await counter.next() }",
            as: { "\($0.count) different numbers" }, where: { $0.count == 200 }
        ) {
            try await inTasks(200) { _ in try await counter.next() }
        }
    }

    /// Calls from so many tasks at the same time and collects what they get.
    private func inTasks<Reply: Hashable & Sendable>(
        _ count: Int, _ call: @escaping @Sendable (Int) async throws -> Reply
    ) async throws -> Set<Reply> {
        try await withThrowingTaskGroup(of: Reply.self) { group in
            for number in 1...count {
                group.addTask { try await call(number) }
            }
            return try await group.reduce(into: []) { $0.insert($1) }
        }
    }
}
