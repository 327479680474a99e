// Calls that are stopped while they wait in front of their object: the answer says that the object was never called.

import RPCSockets
import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Suite struct `A call that is stopped in front of its object` {
    /// What holds the call back.
    enum Hindrance: CaseIterable {
        case lock, lazy, counted, unbound, asking, ownLayer
    }

    private let network = SimulatedNetwork()
    private let office: TicketOffice

    init() { office = TicketOffice(loop: network.loop) }

    private func stack(_ hindrance: Hindrance) -> TicketsProxy {
        let loop = network.loop
        let plain = TicketsProxy(office)
        return switch hindrance {
        case .lock: plain.locked(clock: loop)
        case .lazy: .lazy(on: loop, executor: loop) { [office] in try await office.afterAnHour() }
        case .counted: .counted(clock: loop, executor: loop, make: { [office] in try await office.afterAnHour() })
        case .unbound: .unbound(on: loop, executor: loop).proxy
        case .asking:
            plain.guarded(
                by: .asking { _ in
                    try await loop.sleep(for: .seconds(3_600))
                    return .allow
                }, clock: loop)
        case .ownLayer: TicketsProxy(subject: WaitingLayer(next: plain.proxySubject, loop: loop))
        }
    }

    /// Exports the stack, and sees to it that a call with a deadline of two seconds will wait in it.
    private func export(_ hindrance: Hindrance) throws -> HandwrittenEnd {
        network.exports.add(stack(hindrance), named: nil)
        let end = try HandwrittenEnd(network)
        if hindrance == .lock {
            end.say(#"{"jsonrpc":"2.0","method":"Tickets.take","params":[1,"linger"],"id":1}"#)
            #expect(office.log.withLock { $0 } == [1])
        }
        end.say(#"{"jsonrpc":"2.0","method":"Tickets.take","params":[2,""],"timeout":2000,"id":2}"#)
        #expect(end.take() == [])
        return end
    }

    @Test func `is not executed either when it asks for a hold`() throws {
        let end = try export(.lock)
        end.say(#"{"jsonrpc":"2.0","method":"rpc.hold","params":{"object":"Tickets","lease":1000},"id":3}"#)
        end.say(#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":3}}"#)
        let answer = try #require(end.take().first)
        #expect(
            answer.contains(#""id":3,"error":{"code":-32800"#) && answer.contains(#""outcome":"notExecuted""#),
            "\(answer)")
        network.shutDown()
    }

    private var neverCalled: Bool { office.log.withLock { !$0.contains(2) } }

    /// Row C11 of "What became of my call".
    @Test(arguments: Hindrance.allCases)
    func `at its deadline was not executed`(_ hindrance: Hindrance) throws {
        let end = try export(hindrance)
        network.loop.advance(by: .seconds(2))
        let answer = try #require(end.take().first)
        #expect(
            answer.contains(#""id":2,"error":{"code":-32052"#) && answer.contains(#""outcome":"notExecuted""#),
            "\(answer)")
        #expect(neverCalled)
        network.shutDown()
    }

    @Test(arguments: Hindrance.allCases)
    func `by its caller was not executed`(_ hindrance: Hindrance) throws {
        let end = try export(hindrance)
        end.say(#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":2}}"#)
        let answer = try #require(end.take().first)
        #expect(
            answer.contains(#""id":2,"error":{"code":-32800"#) && answer.contains(#""outcome":"notExecuted""#),
            "\(answer)")
        #expect(neverCalled)
        network.shutDown()
    }
}

@Suite struct `A call that is stopped behind a chain of layers` {
    private let network = SimulatedNetwork()
    private let office: TicketOffice

    init() { office = TicketOffice(loop: network.loop) }

    private func answer(of proxy: TicketsProxy, to deed: String = "wait for ever") throws -> String {
        network.exports.add(proxy, named: nil)
        let end = try HandwrittenEnd(network)
        end.say(#"{"jsonrpc":"2.0","method":"Tickets.take","params":[2,"\#(deed)"],"timeout":2000,"id":2}"#)
        network.loop.advance(by: .seconds(2))
        return try #require(end.take().first)
    }

    @Test func `was executed when its object had begun`() throws {
        let answer = try answer(of: TicketsProxy(office).locked(clock: network.loop).observed { _ in }, to: "give up")
        #expect(answer.contains(#""error":{"code":-32052"#) && !answer.contains("outcome"), "\(answer)")
        #expect(office.log.withLock { $0 } == [2])
    }

    @Test func `was executed when its object throws behind a layer that a program has written`() throws {
        let proxy = TicketsProxy(subject: HandingOn(next: TicketsProxy(office).proxySubject, loop: network.loop))
        let answer = try answer(of: proxy, to: "give up")
        #expect(answer.contains(#""error":{"code":-32052"#) && !answer.contains("outcome"), "\(answer)")
    }

    @Test func `may have been executed when an end that a program has written was called`() throws {
        let answer = try answer(of: TicketsProxy(subject: SilentEnd(loop: network.loop)))
        #expect(answer.contains(#""error":{"code":-32052"#) && answer.contains(#""outcome":"unknown""#), "\(answer)")
    }

    /// Row C11 of "What became of my call".
    @Test func `was not executed when the server behind the gateway cannot be reached`() throws {
        let far = SimulatedNetwork(loop: network.loop)
        far.isServing = false
        let answer = try answer(of: TicketsProxy(far.client()))
        #expect(answer.contains(#""outcome":"notExecuted""#), "\(answer)")
        far.shutDown()
    }

    @Test func `may have been executed when the server behind the gateway is silent`() throws {
        let far = SimulatedNetwork(loop: network.loop)
        far.exports.add(TicketsProxy(office), named: nil)
        let next = TicketsProxy(far.client())
        _ = try network.loop.complete { try await next.count() }
        far.cut(.silence)
        let answer = try answer(of: next)
        #expect(answer.contains(#""outcome":"unknown""#), "\(answer)")
        #expect(office.log.withLock { $0 } == [])
        far.shutDown()
    }

    @Test func `was not executed when a layer throws an error of its own before the object`() throws {
        network.exports.add(TicketsProxy(subject: Refusing(next: TicketsProxy(office).proxySubject)), named: nil)
        let end = try HandwrittenEnd(network)
        end.say(#"{"jsonrpc":"2.0","method":"Tickets.take","params":[2,""],"id":2}"#)
        let answer = try #require(end.take().first)
        #expect(
            answer.contains(#""error":{"code":-32603"#) && answer.contains(#""outcome":"notExecuted""#), "\(answer)")
    }
}

extension TicketOffice {
    fileprivate func afterAnHour() async throws -> TicketOffice {
        try await loop.sleep(for: .seconds(3_600))
        return self
    }
}

/// Waits before it calls the next subject, and lets its cancellation end that.
private struct WaitingLayer<Service: Sendable>: WrappingSubject {
    let next: any Subject<Service>
    let loop: ManualLoop

    func call<Arguments, Result>(
        _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) async throws -> Result {
        try await loop.sleep(for: .seconds(3_600))
        return try await next.call(method, arguments)
    }
}

/// Calls the next subject in a task of its own, as a layer with a time limit might.
private struct HandingOn<Service: Sendable>: WrappingSubject {
    let next: any Subject<Service>
    let loop: ManualLoop

    func call<Arguments, Result>(
        _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) async throws -> Result {
        let task = Task(executorPreference: loop) { try await next.call(method, arguments) }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }
}

/// Throws what no service lists.
private struct Refusing<Service: Sendable>: WrappingSubject {
    struct NotToday: Error {}
    let next: any Subject<Service>

    func call<Arguments, Result>(
        _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) async throws -> Result {
        throw NotToday()
    }
}

/// Ends a chain and does the work itself, which nobody else can see.
private struct SilentEnd<Service: Sendable>: Subject {
    let loop: ManualLoop

    func call<Arguments, Result>(
        _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) async throws -> Result {
        try await loop.sleep(for: .seconds(3_600))
        throw CancellationError()
    }

    func post<Arguments>(_ post: Post<Service, Arguments>, _ arguments: Arguments, now: (Service) -> Void) {}
}
