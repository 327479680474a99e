// A service that is counted in tests, where it comes from, and who uses it for others.

import RPCSockets
import RPCWire
import TestSupport

@testable import RemoteProxy

/// Keeps the books of what was made and let go.
final class Nursery: Sendable {
    private struct State {
        var made = 0
        var told = 0
        var most = 0
        var failures = 0
        var leaving = 0
        var late = 0
        var log: [String] = []
    }

    private let state = Lock(State())
    var made: Int { state.withLock { $0.made } }
    var told: Int { state.withLock { $0.told } }
    /// How many there were at a time.
    var most: Int { state.withLock { $0.most } }
    var log: [String] { state.withLock { $0.log } }

    /// The next so many that are to be made fail.
    func fail(_ count: Int) { state.withLock { $0.failures = count } }

    func make() throws -> any Child {
        try state.withLock { state in
            if state.failures > 0 {
                state.failures -= 1
                throw Stillborn()
            }
            state.made += 1
            state.most = max(state.most, state.made - state.told)
            return GrowingChild(number: state.made, nursery: self)
        }
    }

    /// Uses of one that was being let go.
    var late: Int { state.withLock { $0.late } }

    func beginLettingGo() { state.withLock { $0.leaving += 1 } }

    func letGo() { state.withLock { $0.told += 1 } }

    func write(_ text: String, by number: Int) {
        state.withLock { state in
            state.log.append(text)
            if number <= state.leaving { state.late += 1 }
        }
    }

    struct Stillborn: Error {}

    /// One that is made and let go here.
    func child(on loop: ManualLoop) -> ChildProxy {
        .counted(clock: loop) { [self] in
            await Task.yield()
            return try make()
        } whenLast: { [self] _ in
            beginLettingGo()
            await Task.yield()
            letGo()
        }
    }
}

@Service
protocol Child: Sendable {
    /// Which one it is.
    func number() async throws -> Int
    func hear(_ text: String)
}

private struct GrowingChild: Child {
    let number: Int
    let nursery: Nursery

    func number() async throws -> Int {
        nursery.write("asked", by: number)
        return number
    }
    func hear(_ text: String) { nursery.write(text, by: number) }
}

/// Calls on through whatever proxy it was given.
final class Nanny: Child {
    private let proxy = Lock<ChildProxy?>(nil)
    var handle: ChildProxy? {
        get { proxy.withLock { $0 } }
        set { _ = proxy.withLock { proxy in swap(newValue, &proxy) } }
    }

    func number() async throws -> Int { try await handle?.number() ?? 0 }
    func hear(_ text: String) { handle?.hear(text) }

    private func swap(_ new: ChildProxy?, _ old: inout ChildProxy?) -> ChildProxy? {
        defer { old = new }
        return old
    }
}

extension ServiceProxy {
    /// How many hold the object that is counted in this stack.
    var holders: Int { proxySubject.layers.lazy.compactMap { $0 as? LateSubject<ProxiedService> }.first?.users ?? 0 }
}
