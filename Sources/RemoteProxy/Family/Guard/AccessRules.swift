// Ready-made policies: by caller, by method, by arguments.

extension AccessPolicy {
    /// Allows nothing. For methods that must not be called: `guarded(by: .nobody, methods: [.erase])`.
    public static var nobody: AccessPolicy { AccessPolicy { _ in .deny("it must not be called") } }

    /// Allows callers that have proved an identity.
    public static var identified: AccessPolicy {
        AccessPolicy { $0.identity == nil ? .deny("it is for callers that have proved who they are") : .allow }
    }

    /// Allows callers whose identity has the role.
    public static func role(_ role: String) -> AccessPolicy {
        AccessPolicy { request in
            request.identity?.roles.contains(role) == true ? .allow : .deny("it is for the role '\(role)'")
        }
    }

    /// Allows calls that begin in this process. A call that a subject makes while it serves a caller counts as the caller's.
    public static var thisProcess: AccessPolicy {
        AccessPolicy { $0.caller == nil ? .allow : .deny("it is for this process only") }
    }

    /// Allows methods marked `@ReadOnly`.
    public static var readOnly: AccessPolicy {
        AccessPolicy { $0.method.effect == .readOnly ? .allow : .deny("only methods that read may be called") }
    }

    /// Judges the calls of one method by their arguments; allows all others. Several arguments are a tuple with the names of the
    /// parameters. The method is judged in a service that inherits it, too, and in one that declares the same.
    ///
    /// ```swift
    /// .arguments(of: LedgerProxy.Methods.withdraw) { _, amount in
    ///     amount <= 100 ? .allow : .deny("more than 100 needs a signature")
    /// }
    /// .arguments(of: LedgerProxy.Methods.transfer) { _, arguments in
    ///     arguments.to == arguments.from ? .deny("nothing to do") : .allow
    /// }
    /// ```
    public static func arguments<Service, Arguments, Result>(
        of method: Method<Service, Arguments, Result>,
        _ decide: @escaping @Sendable (AccessRequest, Arguments) -> Verdict
    ) -> AccessPolicy {
        arguments(of: method.signature, decide)
    }

    /// Judges the posts of one method by their arguments, as for a call; allows all others.
    public static func arguments<Service, Arguments>(
        of post: Post<Service, Arguments>,
        _ decide: @escaping @Sendable (AccessRequest, Arguments) -> Verdict
    ) -> AccessPolicy {
        arguments(of: post.signature, decide)
    }

    private static func arguments<Arguments>(
        of method: MethodSignature, _ decide: @escaping @Sendable (AccessRequest, Arguments) -> Verdict
    ) -> AccessPolicy {
        AccessPolicy(readsArguments: true) { request in
            guard request.method.isDeclared(like: method) else { return .allow }
            // Unwrapped first, since the arguments themselves may be an optional.
            guard let known = request.arguments, let arguments = known as? Arguments else {
                return .deny("its arguments are not known")
            }
            return decide(request, arguments)
        }
    }
}
