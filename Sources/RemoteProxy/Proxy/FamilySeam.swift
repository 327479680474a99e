// What the kinds of proxies in Family use and a user's own subject cannot use. `.ci/boundaries` compares this list with what
// they use.
//
// - The layers of a chain: `EndSubject`, `HoldableSubject`, `PassingSubject`, `CountedSubject`, `layers`, `tellsProgress`, `WeakSubject`.
// - Methods: `isDeclared`, `returnsObjects`, `weakSubject`.
// - What calls inherit, and their callers: `CallScope`, `Right`, `Hold`, `served`, `RunningTask`.
// - Errors, and what became of a call: `cannotBeHeld`, `thrownByProxy`, `progress`.
// - The other end of a connection: `RemoteEnd`, `remoteEnd`, `nextRemoteEnd`, `onlyRemoteEnd`, `RemoteObject`, `retryBudget`,
//   `RetryBudget`, `PeerUnreachable`.
// - Waiting: `WaitingTask`, `WaitingLine`, `KeptPost`, `NotKept`, `DroppedPosts`.
// - What a server keeps for its peers: `requester`, `Traffic`, `keeps`, `sizeInMemory`.
// - JSON: `JSONOutput`, `canonicalJSON`. Arguments as keys: `ArgumentValues`.
// - The system: `Lock`, `Loop`, `LoopTimer`, `EventLoop`, `Instant`, `MonotonicClock`, `WallClock`, `SystemThread`,
//   `standardError`, `ReplaceableFile`, `SystemError`, `waits`.

/// A subject that one caller can hold, or that does something of its own when it is held.
protocol HoldableSubject<Service>: Subject {
    /// Takes the object for one caller, until the hold is released or its lease is over. Waits for its turn until the deadline
    /// of the calling task.
    func takeHold(for lease: Duration) async throws -> Hold
}

/// A subject that does the same around every question to the next subject: it waits for that one, chooses it, or changes what
/// calls inherit.
protocol PassingSubject<Service>: Subject {
    /// Asks the next subject.
    /// - Parameter isRepeatable: whether asking twice is the same as asking once.
    func ask<Answer: Sendable>(
        isRepeatable: Bool, _ question: (any Subject<Service>) async throws -> Answer
    ) async throws -> Answer
}

extension PassingSubject where Self: EndSubject {
    @inline(__always)
    func call<Arguments, Result>(
        _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) async throws -> Result {
        try await ask(isRepeatable: method.signature.isRepeatable) { try await $0.call(method, arguments) }
    }
}

/// A subject of the library that ends a chain, or whose next subject may change.
protocol EndSubject<Service>: Subject {
    /// Whether this subject tells the progress of its calls. False where one of the subjects that it chooses among does not.
    var tells: Bool { get }

    /// The next subject inward; nil unless there is exactly one.
    var arrived: (any Subject<Service>)? { get }
}

extension EndSubject {
    var tells: Bool { true }
    var arrived: (any Subject<Service>)? { nil }
}

extension Subject {
    /// Takes the object for one caller, as the first `HoldableSubject` of the chain does.
    /// - Throws: `RPCError` with the code `.noSuchMethod` when the chain has none.
    func hold(for lease: Duration) async throws -> Hold {
        switch self {
        case let subject as any HoldableSubject<Service>: try await subject.takeHold(for: lease)
        case let subject as any PassingSubject<Service>:
            try await subject.ask(isRepeatable: false) { try await $0.hold(for: lease) }
        case let subject as any WrappingSubject<Service>: try await subject.next.hold(for: lease)
        default: throw RPCError.cannotBeHeld
        }
    }

    /// This subject and those inside it, from the outside in. They end before an object that has not arrived yet, and at a
    /// choice among several. Their number is limited, because two late-bound proxies may have been bound to each other.
    var layers: PrefixSequence<UnfoldFirstSequence<any Subject<Service>>> {
        sequence(first: self as any Subject<Service>) { layer in
            if let layer = layer as? any WrappingSubject<Service> { return layer.next }
            return (layer as? any EndSubject<Service>)?.arrived
        }.prefix(1_000)
    }

    /// Whether the end of this chain is one of the library's, which tell how far a call has come. A program's own end may do
    /// the work without telling.
    var tellsProgress: Bool {
        var end: any Subject<Service> = self
        for layer in layers { end = layer }
        return (end as? any EndSubject<Service>)?.tells ?? false
    }
}
