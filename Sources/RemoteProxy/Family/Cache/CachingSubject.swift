// A subject that shows what was seen last time at once and fetches anew behind it.

import JSONCodec
import RPCWire

struct CachingSubject<Service: Sendable>: WrappingSubject {
    let next: any Subject<Service>
    let store: CacheStore

    /// What an object may take longer than it was told before it is given up.
    private static var patience: Duration { .milliseconds(100) }

    func call<Arguments, Result>(
        _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) async throws -> Result {
        // Who holds the object exclusively wants to see it as it is.
        guard let number = store.methods.firstIndex(of: method.signature.name), CallScope.current?.hasHold != true
        else {
            return try await next.call(method, arguments)
        }
        switch store.look(at: CacheKey.place(number, arguments)) {
        case .fresh(let result as KnownResult<Arguments, Result>) where result.isResult(of: number, arguments):
            return result.value
        case .stale(let result as KnownResult<Arguments, Result>) where result.isResult(of: number, arguments):
            if let ticket = store.refresh(result.key) { fetch(ticket, method, arguments) }
            return result.value
        default:
            // What is not even equal to itself would never be found again.
            guard arguments == arguments else { return try await next.call(method, arguments) }
            return try await find(CacheKey(method: number, arguments: arguments), method, arguments).value
        }
    }

    /// Waits for what there was nothing of at once.
    private func find<Arguments, Result>(
        _ key: CacheKey, _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) async throws -> KnownResult<Arguments, Result> {
        while true {
            let found: any CachedResult
            // The call that it may wait for can be another caller's.
            method.progress?.note(.unknown)
            switch store.find(key) {
            case .known(let result, let ticket):
                if let ticket { fetch(ticket, method, arguments) }
                found = result
            case .coming(let task):
                found = try await wait(for: task).get()
            case .missing(let task, let ticket):
                fetch(ticket, method, arguments)
                found = try await wait(for: task).get()
            case .unread(let record):
                read(record, of: key.method, arguments, as: Result.self)
                continue
            case .loading(let task):
                try await wait(for: task)
                continue
            }
            if let found = found as? KnownResult<Arguments, Result> { return found }
        }
    }

    private func read<Arguments: MethodArguments, Result: Codable & Sendable>(
        _ record: CacheRecord, of method: Int, _ arguments: Arguments, as type: Result.Type
    ) {
        do {
            let value = try record.json.withUnsafeBytes { bytes in try decodeJSON(Result.self, from: bytes) }
            store.adopt(KnownResult(value, of: method, arguments), from: record)
        } catch {
            store.forget(record)
        }
    }

    /// Calls the next subject in a task of its own, which no caller's cancellation or deadline ends: its result is for
    /// all that ask.
    private func fetch<Arguments, Result>(
        _ ticket: CacheStore.Ticket, _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) {
        let environment = store.environment
        let deadline = environment.loop.now.advanced(by: store.policy.refreshTimeout)
        var scope = CallScope.current?.later ?? CallScope()
        scope.deadline = deadline
        let task = Task(executorPreference: environment.executor) { [next, store, scope] in
            let fetched: CacheStore.Fetched
            do {
                let value = try await CallScope.with(scope) { try await next.call(method, arguments) }
                fetched = .success(KnownResult(value, of: ticket.key.method, arguments))
            } catch {
                fetched = .failure(error)
            }
            store.end(ticket, with: fetched)
            if ticket.isRefresh { store.refreshIsOver() }
        }
        // What knows of the deadline ends by itself, and knows better why.
        let timer = environment.loop.schedule(at: deadline.advanced(by: Self.patience)) { [weak store] in
            // In this order, or its end would be the cancellation.
            store?.end(ticket, with: .failure(RPCError.deadlineExceeded))
            task.cancel()
        }
        store.attach(timer, to: ticket)
    }

    private func wait<Turn>(for task: WaitingTask<Turn>) async throws -> Turn {
        let loop = store.environment.loop
        let limit = loop.now.advanced(by: store.policy.refreshTimeout)
        let deadline = min(CallScope.current?.deadline ?? limit, limit)
        guard let turn = try await task.wait(until: deadline, on: loop) else { throw RPCError.deadlineExceeded }
        return turn
    }
}
