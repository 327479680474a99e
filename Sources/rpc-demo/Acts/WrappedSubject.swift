// A subject around a subject: something done before every call of any service, written once.

import Protocols
import RemoteProxy

struct WrappedSubject: Act {
    let client: RPCClient

    let title = "Something done before every call"
    let story = "A proxy forwards to a subject, and a subject may hold another: for a log, a cache, a lock, a guard."

    func play(on stage: Stage) async throws {
        let (names, called) = AsyncStream.makeStream(of: String.self)
        let remote = CalculatorProxy(client).proxySubject
        let calculator: any Calculator = CalculatorProxy(subject: Announcing(next: remote) { called.yield($0) })

        try await stage.show("try await calculator.divide(84, by: 2)", expecting: 42) {
            try await calculator.divide(84, by: 2)
        }
        called.finish()
        try stage.show("announced", await names.reduce(into: []) { $0.append($1) }, expecting: ["Calculator.divide"])
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
