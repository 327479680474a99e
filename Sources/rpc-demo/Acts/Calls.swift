// Calls: one, one with a record, many at once, to objects of every kind, and typed by hand.

import Protocols
import RemoteProxy
import Subjects

let callAct = Act("A call", "The client knows a protocol and an address. The proxy does the rest.") { stage in
    let greeter: any Greeter = GreeterProxy(stage.client)
    try await stage.show(#"try await greeter.greet("world")"#, expecting: "Hello, world!") {
        try await greeter.greet("world")
    }
    stage.says("The first call also made the connection. The second finds it there:")
    try await stage.show(#"try await greeter.greet("again")"#, expecting: "Hello, again!") {
        try await greeter.greet("again")
    }
}

let recordAct = Act("A record", "Any Codable value travels, there and back, and is the same.") { stage in
    let echo: any Echo = EchoProxy(stage.client)
    let record = Record(
        id: 7, name: "Zoë 🦊", email: "z@b.org", tags: ["a", ""], scores: [0.1, -2e300], active: true)
    try await stage.show("try await echo.record(record)", expecting: record) { try await echo.record(record) }
}

let sameProtocolAct = Act(
    "One protocol for remote and local objects",
    "`func welcome(_ name: String, by greeter: any Greeter)` works with all of them and cannot tell them apart."
) { stage in
    let client = stage.client
    stage.says("An object on the server:")
    try await stage.show(#"try await welcome("Ada", by: GreeterProxy(client))"#, expecting: "Hello, Ada! Come in.") {
        try await welcome("Ada", by: GreeterProxy(client))
    }
    stage.says("A proxy for an object of this process; nothing is encoded:")
    try await stage.show(
        #"try await welcome("Ada", by: GreeterProxy(EnglishGreeter()))"#, expecting: "Hello, Ada! Come in."
    ) {
        try await welcome("Ada", by: GreeterProxy(EnglishGreeter()))
    }
    stage.says("A fake, as a test would pass it:")
    try await stage.show(#"try await welcome("Ada", by: Fake())"#, expecting: "Psst, Ada! Come in.") {
        try await welcome("Ada", by: Fake())
    }
}

let manyTasksAct = Act(
    "Many tasks, one connection",
    "Two hundred tasks share a client, and each call takes 100 ms. Each reply reaches its caller, in any order."
) { stage in
    let echo: any Echo = EchoProxy(stage.client)
    let all = Set((1...200).map { "number \($0)" })
    try await stage.show(
        #"try await inTasks(200) { try await echo.later("number \($0)", afterMilliseconds: 100) }"#,
        as: { "\($0.count) different replies" }, where: { $0 == all }
    ) {
        try await inTasks(200) { try await echo.later("number \($0)", afterMilliseconds: 100) }
    }
}

let typedByHandAct = Act(
    "Lines typed by hand",
    "This is JSON-RPC 2.0. The lines are the very bytes on a plain socket, there and back."
) { stage in
    let socket = try await LineSocket.connect(to: stage.endpoint)
    defer { socket.close() }
    func type(_ line: String, where isRight: (String) -> Bool) async throws {
        try await stage.show(line, as: shortened, where: isRight) {
            socket.type(line)
            return try await socket.answer()
        }
    }

    try await type(#"{"jsonrpc":"2.0","id":1,"method":"Calculator.add","params":[40,2]}"#) {
        $0 == #"{"jsonrpc":"2.0","id":1,"result":42}"#
    }
    stage.says("Two calls in one line, with their arguments by name; one of them throws:")
    let two =
        #"[{"jsonrpc":"2.0","id":"a","method":"Greeter.greet","params":{"name":"world"}},"#
        + #"{"jsonrpc":"2.0","id":"b","method":"Calculator.divide","params":{"dividend":1,"divisor":0}}]"#
    try await type(two) { line in
        line.hasPrefix("[") && line.hasSuffix("]") && line.contains(#""result":"Hello, world!""#)
            && line.contains(#""error":{"code":1,"#) && line.contains("divisionByZero")
    }
    stage.says("The server lists its methods as an OpenRPC document:")
    try await type(#"{"jsonrpc":"2.0","id":2,"method":"rpc.discover"}"#) {
        $0.contains(#""name":"Calculator.divide""#)
    }
}

private func welcome(_ name: String, by greeter: any Greeter) async throws -> String {
    try await greeter.greet(name) + " Come in."
}

private struct Fake: Greeter {
    func greet(_ name: String) async throws -> String { "Psst, \(name)!" }
}

/// Makes a number of calls at the same time and collects the replies.
func inTasks<Reply: Hashable & Sendable>(
    _ count: Int, _ call: @escaping @Sendable (Int) async throws -> Reply
) async throws -> Set<Reply> {
    try await withThrowingTaskGroup(of: Reply.self) { group in
        for number in 1...count { group.addTask { try await call(number) } }
        return try await group.reduce(into: []) { $0.insert($1) }
    }
}

private func shortened(_ line: String) -> String {
    line.count <= 300 ? line : "\(line.prefix(120))… (\(line.utf8.count) bytes)"
}
