// A subject that returns the last known result at once, and fetches a new one in the background.

import JSONCodec
import RPCWire

struct CachingSubject<Service: Sendable>: WrappingSubject {
    let next: any Subject<Service>
    let store: CacheStore

    /// How long after its deadline a fetch is given up. Most objects end at the deadline themselves, with a better error.
    private static var patience: Duration { .milliseconds(100) }

    @inline(__always)
    func call<Arguments, Result>(
        _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) async throws -> Result {
        // A caller that holds the object exclusively must see its present state.
        let scope = CallScope.current
        guard let number = store.number(of: method), scope?.hasHold != true else {
            return try await change(method.signature) { try await next.call(method, arguments) }
        }
        let caller = scope?.caller
        let name = caller.map { _ in method.signature.wireName }
        guard let key = try CacheKey(number, arguments, method.coding, sentFor: name) else {
            return try await next.call(method, arguments)
        }
        while true {
            if let (found, isFresh) = store.look(at: key.place), found.key == key {
                if !isFresh, let fetching = store.refresh(key) { fetch(fetching, true, method, arguments) }
                // The key names the method, which has these types. A cast that looks them up takes a sixth of such a call.
                return unsafeDowncast(found, to: KnownResult<Arguments, Result>.self).value
            }
            switch store.find(key, arguments, method.coding) {
            case .again: continue
            case .read(let record): read(record, as: key, method, arguments, askedBy: caller)
            case .load(let task):
                guard try await wait(for: task) != nil else {
                    let text = "the time allowed for the call was over before the file of the cache was read"
                    throw RPCError(.deadlineExceeded, text, outcome: .notExecuted)
                }
            case .wait(let task, let begins):
                // The call may wait for another call to fetch the result.
                method.progress?.add(.unknown)
                if let begins { fetch(begins, false, method, arguments) }
                guard let fetched = try await wait(for: task) else {
                    throw next.nextRemoteEnd?.unsent ?? .deadlineExceeded
                }
                let result = try fetched.get()
                if let result = result as? KnownResult<Arguments, Result> { return result.value }
            }
        }
    }

    func post<Arguments>(_ post: Post<Service, Arguments>, _ arguments: Arguments, now: (Service) -> Void) {
        // What is fetched from now on is asked for behind the post.
        next.post(post, arguments, now: now)
        if !store.policy.keepsAfterChanges { store.drop(nil) }
    }

    /// Decodes a record from the file, and has the store adopt the result.
    private func read<Arguments, Result>(
        _ record: CacheRecord, as key: CacheKey, _ method: Method<Service, Arguments, Result>, _ arguments: Arguments,
        askedBy caller: Caller?
    ) {
        var json = record.json
        let value = try? json.withUTF8 { try method.results.read(UnsafeRawBufferPointer($0), .none) }
        store.adopt(
            value.map { KnownResult($0, for: key, arguments, method.coding, method.results, askedBy: caller) },
            from: record)
    }

    /// Makes a call that is not cached. Drops all results when it may have changed the object.
    private func change<Result>(_ method: MethodSignature, _ call: () async throws -> Result) async throws -> Result {
        guard method.effect != .readOnly, !store.policy.keepsAfterChanges else { return try await call() }
        do {
            let result = try await call()
            store.drop(nil)
            return result
        } catch {
            if (error as? RPCError)?.outcome != .notExecuted { store.drop(nil) }
            throw error
        }
    }

    /// Calls the next subject in a task of its own. No caller's cancellation or deadline ends it, because other calls may
    /// want the result too.
    /// - Parameter isRefresh: whether the call has already returned an older result.
    private func fetch<Arguments, Result>(
        _ fetching: CacheStore.Fetching, _ isRefresh: Bool, _ method: Method<Service, Arguments, Result>,
        _ arguments: Arguments
    ) {
        let environment = store.environment
        let deadline = environment.loop.now.advanced(by: store.policy.refreshTimeout)
        var scope = CallScope.current?.later ?? CallScope()
        scope.deadline = deadline
        // Its caller has a result already. So a refresh does not wait for a connection.
        if isRefresh, scope.attempt == nil { scope.attempt = next.remoteEnd?.attempt(isLast: false) }
        let answer = WaitingTask<CacheStore.Fetched>()
        let asking = Task(executorPreference: environment.executor) { [next, store, scope] in
            do {
                let value = try await CallScope.with(scope) { try await next.call(method, arguments) }
                _ = answer.end(
                    with: .success(
                        KnownResult(
                            value, for: fetching.key, arguments, method.coding, method.results, askedBy: scope.caller)))
            } catch {
                _ = answer.end(with: .failure(error))
            }
            if isRefresh { store.refreshIsOver() }
        }
        Task(executorPreference: environment.executor) { [store] in
            let fetched = try? await answer.wait(until: deadline.advanced(by: Self.patience), on: environment.loop)
            store.end(fetching, with: fetched ?? .failure(RPCError.deadlineExceeded))
            asking.cancel()
        }
    }

    /// Returns nil when the time allowed for the call is over. A call without a deadline waits for the end of the fetch.
    private func wait<Turn>(for task: WaitingTask<Turn>) async throws -> Turn? {
        let loop = store.environment.loop
        let limit = loop.now.advanced(by: store.policy.refreshTimeout + Self.patience * 2)
        let deadline = min(CallScope.current?.deadline ?? limit, limit)
        return try await task.wait(until: deadline, on: loop)
    }
}
