// Proxies that do something before a call reaches the object: make it, forbid it, announce it, pass it on.

import Protocols
import RPCServer
import RemoteProxy
import Subjects

let lazyObjectAct = Act(
    "A heavy object behind a module's border",
    """
    The module Subjects has a table of prime numbers that takes a while to make. Its only interface is a
    function that returns a lazy proxy. No other module can name the object behind the proxy.
    """
) { stage in
    try await stage.withServer(primes()) { _, _, client in
        let proxy = PrimesProxy(client)
        try stage.show("tables made so far", primeTablesMade(), expecting: 0)
        stage.says("A hundred calls arrive at once. The first makes the table, and all wait for it:")
        try await stage.show("try await inTasks(100) { try await proxy.count(upTo: $0) }.count", expecting: 26) {
            try await inTasks(100) { try await proxy.count(upTo: $0) }.count
        }
        try await stage.show("try await proxy.tablesMade()", expecting: 1) { try await proxy.tablesMade() }
    }
}

let guardedObjectAct = Act(
    "A guard in front of an object", "The policy judges each call before its arguments reach the object."
) { stage in
    let policy = AccessPolicy { $0.method.name == "divide" ? .deny("no fractions today") : .allow }
    try await stage.withServer(CalculatorProxy(CheckedCalculator()).guarded(by: policy)) { _, _, client in
        let calculator: any Calculator = CalculatorProxy(client)
        try await stage.show("try await calculator.add(40, 2)", expecting: 42) { try await calculator.add(40, 2) }
        try await stage.show("try await calculator.divide(84, by: 2)", throwing: rpc(.denied, .notExecuted)) {
            try await calculator.divide(84, by: 2)
        }
    }
}

let wrappedSubjectAct = Act(
    "Something done before every call",
    "A proxy forwards to a subject, and a subject may hold another: for a log, a cache, a lock, a guard."
) { stage in
    let (names, called) = AsyncStream.makeStream(of: String.self)
    let remote = CalculatorProxy(stage.client).proxySubject
    let calculator: any Calculator = CalculatorProxy(subject: Announcing(next: remote) { called.yield($0) })
    try await stage.show("try await calculator.divide(84, by: 2)", expecting: 42) {
        try await calculator.divide(84, by: 2)
    }
    called.finish()
    try stage.show("announced", await names.reduce(into: []) { $0.append($1) }, expecting: ["Calculator.divide"])
}

let gatewayAct = Act(
    "A gateway in one line",
    "A second server exports a proxy for the first one's calculator. Errors cross it as themselves."
) { stage in
    let upstream = stage.client
    try await stage.withServer(CalculatorProxy(upstream)) { _, _, client in
        let calculator: any Calculator = CalculatorProxy(client)
        try await stage.show("try await calculator.add(40, 2)", expecting: 42) { try await calculator.add(40, 2) }
        try await stage.show(
            "try await calculator.divide(42, by: 0)", throwing: typed(ArithmeticFailure.divisionByZero)
        ) {
            try await calculator.divide(42, by: 0)
        }
    }
}

/// Names every call before it is made. Knows no service, and works for all of them.
private struct Announcing<Service: Sendable>: Subject {
    let next: any Subject<Service>
    let announce: @Sendable (String) -> Void

    func call<Arguments, Result>(
        _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) async throws -> Result {
        announce(method.signature.wireName)
        return try await next.call(method, arguments)
    }

    func post<Arguments>(_ post: Post<Service, Arguments>, _ arguments: Arguments, now: (Service) -> Void) {
        announce(post.signature.wireName)
        next.post(post, arguments, now: now)
    }
}
