// A subject whose next one is not always the same: lazy, late-bound, counted, failover.

/// A subject that has to wait for its next one, or to choose it, and then asks it in the same way whatever the question is.
/// It spells `ask`, and `post`, which cannot wait.
protocol AwaitingSubject<Service>: EndSubject {
    /// The next subject inward, while there is exactly one.
    var arrived: (any Subject<Service>)? { get }

    /// Asks the next subject as soon as it is there.
    /// - Parameter isRepeatable: whether asking twice is the same as asking once.
    func ask<Answer: Sendable>(
        isRepeatable: Bool, _ question: (any Subject<Service>) async throws -> Answer
    ) async throws -> Answer
}

extension AwaitingSubject {
    func call<Arguments, Result>(
        _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) async throws -> Result {
        try await ask(isRepeatable: method.signature.isRepeatable) { try await $0.call(method, arguments) }
    }

    func supports(_ method: MethodSignature) async throws -> Bool {
        try await ask(isRepeatable: true) { try await $0.supports(method) }
    }

    func hold(for lease: Duration) async throws -> Hold {
        try await ask(isRepeatable: false) { try await $0.hold(for: lease) }
    }
}
