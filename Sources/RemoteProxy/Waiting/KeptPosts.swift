// Posts that wait in a subject until they can be delivered.

/// A post with its arguments, to be delivered through any subject.
typealias KeptPost<Service: Sendable> = @Sendable (any Subject<Service>) async -> Void

/// Keeps a post with its arguments, for delivery later on behalf of the present caller.
func kept<Service, Arguments>(_ post: Post<Service, Arguments>, _ arguments: Arguments) -> KeptPost<Service> {
    let scope = CallScope.current?.later
    return { subject in
        await CallScope.with(scope) { await post(through: subject, arguments) }
    }
}
