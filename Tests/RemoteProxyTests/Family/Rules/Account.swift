// A service for the subjects that judge, watch and repeat: an object that counts, and a subject before it that fails
// when it is told to.

import RPCSockets
import RPCWire
import RemoteProxy
import TestSupport

enum AccountFailure: Error, Codable, Sendable, Hashable {
    case overdrawn
}

@Service(errors: AccountFailure.self)
protocol Account: Sendable {
    @ReadOnly func balance() async throws -> Int
    @Idempotent func set(_ amount: Int) async throws -> Int
    func add(_ amount: Int) async throws -> Int
    func withdraw(_ amount: Int, for purpose: String, by: String) async throws -> Int
    func note(_ text: String)
}

final class PlainAccount: Account {
    private struct State {
        var amount = 0
        var notes: [String] = []
    }

    private let state = Lock(State())

    var notes: [String] { state.withLock { $0.notes } }
    var amount: Int { state.withLock { $0.amount } }

    func balance() async throws -> Int { amount }

    func set(_ amount: Int) async throws -> Int {
        state.withLock { $0.amount = amount }
        return amount
    }

    func add(_ amount: Int) async throws -> Int {
        state.withLock { state in
            state.amount += amount
            return state.amount
        }
    }

    func withdraw(_ amount: Int, for purpose: String, by: String) async throws -> Int {
        try state.withLock { state in
            guard state.amount >= amount else { throw AccountFailure.overdrawn }
            state.amount -= amount
            return state.amount
        }
    }

    func note(_ text: String) { state.withLock { $0.notes.append(text) } }
}

/// Fails calls in the order of its script before they reach the object; when the script is over, all reach it.
final class ScriptedSubject<Service: Sendable>: Subject {
    enum Step: Sendable {
        case answer
        case fail(RPCError)
        /// Waits for ever, or until the task is cancelled.
        case hang(ManualLoop)
    }

    private struct State {
        var script: [Step]
        var attempts: [String] = []
    }

    private let object: Service
    private let state: Lock<State>

    init(_ object: Service, _ script: [Step] = []) {
        self.object = object
        state = Lock(State(script: script.reversed()))
    }

    /// What arrived here, by name, in order.
    var attempts: [String] { state.withLock { $0.attempts } }

    func then(_ steps: [Step]) { state.withLock { $0.script = steps.reversed() + $0.script } }

    func call<Arguments, Result>(
        _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) async throws -> Result {
        let step = state.withLock { state in
            state.attempts.append(method.signature.name)
            return state.script.popLast() ?? .answer
        }
        switch step {
        case .answer: break
        case .fail(let error): throw error
        case .hang(let loop): try await loop.sleep(for: .seconds(1_000_000))
        }
        return try await method(on: object, arguments)
    }

    func post<Arguments>(_ post: Post<Service, Arguments>, _ arguments: Arguments, now: (Service) -> Void) {
        state.withLock { $0.attempts.append(post.signature.name) }
        now(object)
    }
}

extension RPCError {
    static let busy = RPCError(.busy, "too much to do", outcome: .notExecuted)
    static let lost = RPCError(.connectionLost, "the line is dead", outcome: .unknown)
    static let broken = RPCError(.subjectFailed, "it broke", outcome: .executed)
}

extension ManualLoop {
    /// The `RPCError` that the body ends with.
    func failure<Success: Sendable>(of body: @escaping @Sendable () async throws -> Success) -> RPCError? {
        do {
            _ = try complete(body)
            return nil
        } catch {
            return error as? RPCError
        }
    }
}
