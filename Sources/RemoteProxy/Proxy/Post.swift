// One requirement that has no reply, with its types. The counterpart of `Method`.

/// A requirement of a service that is posted: sent one way, without waiting and without errors.
///
/// `@unchecked Sendable`: needs no lock, since all properties are constants.
public final class Post<Service: Sendable, Arguments: Sendable>: _ServiceMethod<Service>, @unchecked Sendable {
    let service: _ServiceDescription
    let coding: _ArgumentCoding<Arguments>
    /// Whether the requirement is `async`. Then an object runs the post after `Subject.post` has returned.
    public let isAsync: Bool
    let proxy: @Sendable (any Subject<Service>) -> Service
    let deliver: @Sendable (Service, Arguments) async -> Void

    /// Made by generated code. A parameter with an underscore keeps it out of completion and documentation.
    public convenience init(
        _ _name: String, of service: _ServiceDescription, parameters: KeyValuePairs<String, String> = [:],
        effect: MethodSignature.Effect = .changes, isAsync: Bool = false,
        proxy: @escaping @Sendable (any Subject<Service>) -> Service, coding: _ArgumentCoding<Arguments>,
        deliver: @escaping @Sendable (Service, Arguments) async -> Void
    ) {
        let signature = MethodSignature(
            service: service.name, name: _name, parameters: parameters.map(MethodSignature.Parameter.init), result: nil,
            shape: .post, effect: effect)
        self.init(signature, of: service, coding, isAsync, proxy, deliver)
    }

    private init(
        _ signature: MethodSignature, of service: _ServiceDescription, _ coding: _ArgumentCoding<Arguments>,
        _ isAsync: Bool, _ proxy: @escaping @Sendable (any Subject<Service>) -> Service,
        declared: ObjectIdentifier? = nil, _ deliver: @escaping @Sendable (Service, Arguments) async -> Void
    ) {
        self.service = service
        self.coding = coding
        self.proxy = proxy
        self.deliver = deliver
        self.isAsync = isAsync
        super.init(signature, declared: declared)
    }

    override func exported() -> ExportedMethod? {
        ExportedMethod(signature: signature, service: service, isAsyncPost: isAsync, run: answer)
    }

    @Sendable private func answer(_ call: IncomingCall) async throws {
        await deliver(call.service(Service.self), try call.arguments(coding, of: signature))
        call.answerNothing()
    }

    override func inherited<Proxy: ServiceProxy>(
        by proxy: Proxy.Type, as service: String, _ upcast: @escaping @Sendable (Proxy.ProxiedService) -> Service
    ) -> _ServiceMethod<Proxy.ProxiedService>? {
        Post<Proxy.ProxiedService, Arguments>(
            signature.of(service), of: self.service.named(service), coding, isAsync, { Proxy(subject: $0).asService },
            declared: declaration
        ) { [deliver] in await deliver(upcast($0), $1) }
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

// MARK: what generated code calls

extension Post {
    /// Performs a post.
    public func _post(_ subject: any Subject<Service>, _ arguments: Arguments, now: (Service) -> Void) {
        subject.post(self, arguments, now: now)
    }

    /// Performs an inherited post.
    public func _post<Proxy: ServiceProxy>(inheritedBy proxy: Proxy, _ arguments: Arguments, now: (Service) -> Void) {
        guard let post = inherited(by: proxy) else { return }
        proxy.proxySubject.post(post, arguments) { object in
            // The proxy's service refines that of the post.
            if let base = object as? Service { now(base) }
        }
    }

    /// Performs an `async` post. Returns when it is queued for the other end of a connection, or kept for later. If it goes to
    /// an object in this process, returns when the object has run it.
    nonisolated(nonsending) public func _post(_ subject: any Subject<Service>, _ arguments: Arguments) async {
        // A multicast has several objects. Each gets the scope that the layers before it have set.
        var deliveries: [(object: Service, scope: CallScope?)] = []
        subject.post(self, arguments) { deliveries.append(($0, CallScope.current)) }
        if let only = deliveries.first, deliveries.count == 1 {
            return await CallScope.with(only.scope) { await self(on: only.object, arguments) }
        }
        // An object that never returns must not keep the others from getting the post.
        await withTaskGroup { [deliveries] group in
            for delivery in deliveries {
                group.addTask { await CallScope.with(delivery.scope) { await self(on: delivery.object, arguments) } }
            }
        }
    }

    /// The post of the proxy's own service. Nil if the service has another method of that name: then the post
    /// is dropped.
    private func inherited<Proxy: ServiceProxy>(by proxy: Proxy) -> Post<Proxy.ProxiedService, Arguments>? {
        do {
            return try Proxy.inherited(self)
        } catch {
            DroppedPosts.add(signature.wireName, because: "\(error)")
            return nil
        }
    }

    /// Performs an inherited `async` post.
    nonisolated(nonsending) public func _post<Proxy: ServiceProxy>(
        inheritedBy proxy: Proxy, _ arguments: Arguments
    ) async {
        guard let post = inherited(by: proxy) else { return }
        await post._post(proxy.proxySubject, arguments)
    }
}
