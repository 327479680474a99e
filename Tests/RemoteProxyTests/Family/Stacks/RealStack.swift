// The real thing: proxies around recording subjects, all of which write into one log in the order of what happens.

import RPCSockets
import RPCWire
import TestSupport

@testable import RemoteProxy

final class RealStack: Sendable {
    let loop = ManualLoop()
    let log = Lock<[String]>([])
    /// The objects that are referred to weakly, kept here.
    private let relays = Lock<[Int: Relay]>([:])
    private let reactions: @Sendable (_ object: Int) -> [Reaction]

    init(reactions: @escaping @Sendable (_ object: Int) -> [Reaction]) { self.reactions = reactions }

    func proxy(_ stack: Stack) -> AccountProxy {
        switch stack {
        case .object(let number):
            return AccountProxy(subject: RecordingSubject(number, reactions(number), self))
        case .guarded(let name, let refusal, let next):
            let policy = AccessPolicy { $0.method.name == name ? .deny("not liked") : .allow }
            switch refusal {
            case .denied: return proxy(next).guarded(by: policy, clock: loop)
            case .silently: return proxy(next).guarded(by: policy.silently, clock: loop)
            case .asking: return proxy(next).guarded(by: policy.and(.asking { _ in .allow }), clock: loop)
            }
        case .observed(let number, let next):
            return proxy(next).observed(clock: { [loop] in loop.now }) { [log] event in
                let ending = StackEnding(event.end)
                log.withLock { $0.append("\(number) saw \(event.method.name): \(ending) in \(event.duration)") }
            }
        case .retrying(_, let attempts, let next):
            var policy = RetryPolicy()
            policy.maximumAttempts = attempts
            return proxy(next).retrying(policy, clock: loop, chance: { 1 })
        case .limited(let milliseconds, let next):
            return proxy(next).with(timeout: .milliseconds(milliseconds), clock: loop)
        case .locked(let readersTogether, let next):
            return proxy(next).locked(readersTogether ? .readersTogether : .oneAtATime, clock: loop)
        case .cached(_, let next):
            let environment = CacheEnvironment(
                loop: loop, executor: loop, wallTime: { [loop] in loop.now.nanoseconds }, block: { $0() })
            let policy = CachePolicy(freshFor: .seconds(1_000_000))
            return proxy(next).cached(in: .memory, methods: [.balance], policy, environment)
        case .lazy(let number, let next):
            return .lazy(on: loop, executor: loop) { [log, made = proxy(next)] in
                log.withLock { $0.append("\(number) made") }
                return made
            }
        case .bound(let next):
            let (unbound, binding) = AccountProxy.unbound(on: loop, executor: loop)
            // A new proxy that is made by `unbound` has nothing against being bound.
            try? binding.bind(to: proxy(next))
            return unbound
        case .failover(_, let members):
            return .failover(members.map(proxy), clock: loop)
        case .counted(let number, let isHeld, let next):
            let counted = AccountProxy.counted(clock: loop, executor: loop) { [log, made = proxy(next)] in
                log.withLock { $0.append("\(number) made") }
                return made
            } whenLast: { [log] _ in
                log.withLock { $0.append("\(number) let go") }
            }
            return isHeld ? counted.handle() : counted
        case .weak(let number, let next):
            return .weak(relay(number, next))
        case .multicast(let members):
            return .multicast(members.map(receiver))
        }
    }

    private func receiver(_ member: Stack) -> any Account {
        if case .weak(let number, let next) = member { relay(number, next) } else { proxy(member) }
    }

    private func relay(_ number: Int, _ next: Stack) -> Relay {
        let relay = Relay(proxy(next))
        relays.withLock { $0[number] = relay }
        return relay
    }

    /// Performs the operation to its end, with all that follows from it.
    func perform(_ operation: Operation, on proxy: AccountProxy) throws -> StackEnding {
        defer { loop.run() }
        do {
            return try loop.complete { [relays] in
                switch operation {
                case .balance: return .value(try await proxy.balance())
                case .set(let amount): return .value(try await proxy.set(amount))
                case .add(let amount): return .value(try await proxy.add(amount))
                case .withdraw(let amount): return .value(try await proxy.withdraw(amount, for: "test", by: "me"))
                case .note(let text):
                    proxy.note(text)
                    return .posted
                case .letGo(let odd):
                    relays.withLock { $0 = $0.filter { !$0.key.isMultiple(of: 2) != odd } }
                    return .posted
                }
            }
        } catch {
            guard let ending = StackEnding(error) else { throw error }
            return ending
        }
    }
}

/// Writes down what reaches it, and does what its list says before the object is called.
private final class RecordingSubject: Subject {
    typealias Service = any Account

    private let number: Int
    private let object = PlainAccount()
    private let reactions: Lock<[Reaction]>
    private let stack: RealStack

    init(_ number: Int, _ reactions: [Reaction], _ stack: RealStack) {
        self.number = number
        self.reactions = Lock(reactions.reversed())
        self.stack = stack
    }

    func call<Arguments, Result>(
        _ method: Method<any Account, Arguments, Result>, _ arguments: Arguments
    ) async throws -> Result {
        stack.log.withLock { $0.append("\(number) called: \(method.signature.name)") }
        switch reactions.withLock({ $0.popLast() }) ?? .answers {
        case .answers: break
        case .answersAfter(let milliseconds): try await stack.loop.sleep(for: .milliseconds(milliseconds))
        case .fails(let error): throw error
        }
        return try await method(on: object, arguments)
    }

    func post<Arguments>(
        _ post: Post<any Account, Arguments>, _ arguments: Arguments, now: (any Account) -> Void
    ) {
        now(object)
        stack.log.withLock { $0.append("\(number) noted: \(object.notes.joined(separator: " "))") }
    }
}

/// An object of its own, so that it can be gone, that calls the next proxy.
private final class Relay: Account {
    private let next: AccountProxy

    init(_ next: AccountProxy) { self.next = next }

    func balance() async throws -> Int { try await next.balance() }
    func set(_ amount: Int) async throws -> Int { try await next.set(amount) }
    func add(_ amount: Int) async throws -> Int { try await next.add(amount) }
    func withdraw(_ amount: Int, for purpose: String, by: String) async throws -> Int {
        try await next.withdraw(amount, for: purpose, by: by)
    }
    func note(_ text: String) { next.note(text) }
}

extension StackEnding {
    fileprivate init?(_ error: any Error) {
        switch error {
        case AccountFailure.overdrawn: self = .overdrawn
        case let error as RPCError: self = .failed(error.code, error.outcome)
        default: return nil
        }
    }

    /// Values are not told to observers: 0.
    fileprivate init(_ outcome: CallEvent.End) {
        switch outcome {
        case .returned: self = .value(0)
        case .posted: self = .posted
        case .threw(let error): self = StackEnding(error) ?? .value(-1)
        }
    }
}
