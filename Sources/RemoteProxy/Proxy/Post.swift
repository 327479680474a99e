// One requirement that has no reply, with its types. The counterpart of `Method`.

/// A requirement of a service that is posted: sent one way, without waiting and without errors.
public struct Post<Service: Sendable, Arguments: MethodArguments>: Sendable {
    /// The name, the parameters and the shape.
    public let signature: MethodSignature
    let service: ServiceDescription
    /// Whether the requirement is `async`. Then an object runs the post after `Subject.post` has returned.
    public let isAsync: Bool
    let proxy: @Sendable (any Subject<Service>) -> Service
    let deliver: @Sendable (Service, Arguments) async -> Void
    /// Answers a call from the wire.
    let answer: @Sendable (_IncomingCall) async throws -> Void

    /// Made by generated code, and inlined there like a method's initialiser.
    @inlinable
    public init(
        _ name: String, of service: ServiceDescription, parameters: [MethodSignature.Parameter] = [],
        effect: MethodSignature.Effect = .changes, isAsync: Bool = false,
        proxy: @escaping @Sendable (any Subject<Service>) -> Service,
        deliver: @escaping @Sendable (Service, Arguments) async -> Void
    ) {
        self.init(
            name, of: service, parameters: parameters, effect: effect, isAsync: isAsync, proxy: proxy, deliver: deliver
        ) { call in
            await deliver(call.service(Service.self), try call.arguments(Arguments.self))
            call.answerNothing()
        }
    }

    @usableFromInline
    init(
        _ name: String, of service: ServiceDescription, parameters: [MethodSignature.Parameter],
        effect: MethodSignature.Effect, isAsync: Bool, proxy: @escaping @Sendable (any Subject<Service>) -> Service,
        deliver: @escaping @Sendable (Service, Arguments) async -> Void,
        answer: @escaping @Sendable (_IncomingCall) async throws -> Void
    ) {
        signature = MethodSignature(
            service: service.name, name: name, parameters: parameters, result: nil, shape: .post, effect: effect)
        self.service = service
        self.proxy = proxy
        self.deliver = deliver
        self.isAsync = isAsync
        self.answer = answer
    }

    /// Delivers the post to an object in this process, on the object's actor if it has one. Returns when the post has run. For
    /// a subject that could not deliver the post at once.
    public func callAsFunction(on object: Service, _ arguments: Arguments) async {
        await deliver(object, arguments)
    }

    /// Posts to a subject, on the actor that the post belongs to. Returns when the subject's `post` has returned. For a subject
    /// around another that has kept the post for later.
    public func callAsFunction(through subject: any Subject<Service>, _ arguments: Arguments) async {
        await deliver(proxy(subject), arguments)
    }
}
