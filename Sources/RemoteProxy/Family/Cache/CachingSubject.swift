// A subject that shows what was seen last time at once and fetches anew behind it.

import RPCWire

struct CachingSubject<Service: Sendable>: WrappingSubject {
    let next: any Subject<Service>
    /// The names of those whose results are kept.
    let methods: [String]
    let store: CacheStore

    /// What an object may take longer than it was told before it is given up.
    private static var patience: Duration { .milliseconds(100) }

    func call<Arguments, Result>(
        _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) async throws -> Result {
        // Who holds the object exclusively wants to see it as it is.
        guard methods.contains(method.signature.name), CallScope.current?.hasHold != true,
            let key = try? CacheKey(method.signature, arguments)
        else { return try await next.call(method, arguments) }
        while true {
            if let value: Result = try await find(key, method, arguments) { return value }
        }
    }

    /// Nil when there is to be another look.
    private func find<Arguments, Result>(
        _ key: CacheKey, _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) async throws -> Result? {
        switch store.find(key) {
        case .value(let value):
            return typed(value, key)
        case .staleValue(let value, let ticket):
            fetch(ticket, method, arguments)
            return typed(value, key)
        case .coming(let task):
            return typed(try await wait(for: task).get(), key)
        case .missing(let task, let ticket):
            fetch(ticket, method, arguments)
            return typed(try await wait(for: task).get(), key)
        case .loading(let task):
            try await wait(for: task)
            return nil
        }
    }

    private func typed<Result: Codable & Sendable>(_ value: any CachedValue, _ key: CacheKey) -> Result? {
        guard let typed = value.typed(as: Result.self) else {
            store.forget(value, for: key)
            return nil
        }
        if typed !== value { store.replace(value, with: typed, for: key) }
        return typed.value
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
                fetched = .success(
                    try TypedValue(
                        try await CallScope.with(scope) { try await next.call(method, arguments) }))
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
        do {
            return try await task.wait(until: min(CallScope.current?.deadline ?? limit, limit), on: loop)
        } catch {
            switch error {
            case .deadline: throw RPCError.deadlineExceeded
            case .cancelled: throw CancellationError()
            }
        }
    }
}
