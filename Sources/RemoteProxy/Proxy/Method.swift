// One requirement that has a reply, with its types: its name, how it is called, and how its arguments and result travel.

/// A requirement of a service that is called and answered.
///
/// The client encodes by it, the server decodes and calls by it, and local proxies hand it on unchanged.
///
/// A class, because generated code has one for each requirement: copying a value of several closures took a fifth of the time in which
/// that code compiles.
public final class Method<Service: Sendable, Arguments: MethodArguments, Result: Codable & Sendable>: Sendable {
    /// The name, the parameters and the shape.
    public let signature: MethodSignature
    let service: ServiceDescription
    let invoke: @Sendable (Service, Arguments) async throws -> Result
    /// Answers a call from the wire.
    let answer: @Sendable (IncomingCall) async throws -> Void
    /// Notes how far the last subject of a chain has come with this call. Nil unless the call came over a connection.
    let progress: CallProgress?

    /// Made by generated code. What answers a call is generic code of this module. Specialised for each method, calls would gain
    /// too little to measure and posts a tenth, and generated code would take a quarter longer to compile.
    public init(
        _ name: String, of service: ServiceDescription, parameters: [MethodSignature.Parameter] = [],
        result: String? = nil, effect: MethodSignature.Effect = .changes,
        invoke: @escaping @Sendable (Service, Arguments) async throws -> Result
    ) {
        signature = MethodSignature(
            service: service.name, name: name, parameters: parameters, result: result, shape: .call, effect: effect)
        self.service = service
        self.invoke = invoke
        progress = nil
        answer = { call in
            var call = call
            let service = call.service(Service.self)
            repeat {
                let arguments = try call.arguments(Arguments.self)
                do {
                    try call.answer(await invoke(service, arguments))
                } catch {
                    throw error.thrownByObject
                }
            } while try call.advanceToNextCall()
        }
    }

    /// The same method, for one call that tells how far it has come.
    init(_ method: Method, telling progress: CallProgress) {
        signature = method.signature
        service = method.service
        invoke = method.invoke
        answer = method.answer
        self.progress = progress
    }

    /// Calls the method on an object in this process, as a subject that has the object does.
    /// - Throws: what the object throws.
    public func callAsFunction(on object: Service, _ arguments: Arguments) async throws -> Result {
        try await run(on: object, arguments)
    }
}

// MARK: what generated code calls

extension Method {
    /// Performs a call, as `Subject.call` does. Inlined where a generated proxy calls it. There a call that goes to the other end of
    /// a connection, with nothing before or after, is written and awaited where the types are known.
    @inlinable @inline(__always)
    nonisolated(nonsending) public func _call(
        _ subject: any Subject<Service>, _ arguments: Arguments
    ) async throws -> Result {
        guard let remote = subject._remoteCall(signature) else { return try await callThrough(subject, arguments) }
        defer { extendLifetime(subject) }
        return try await remote.perform(self, arguments)
    }

    @usableFromInline
    nonisolated(nonsending) func callThrough(
        _ subject: any Subject<Service>, _ arguments: Arguments
    ) async throws -> Result {
        do { return try await subject.call(self, arguments) } catch { throw error.thrownByProxy }
    }

    /// Calls an inherited method.
    nonisolated(nonsending) public func _call<Proxy: ServiceProxy>(
        inheritedBy proxy: Proxy, _ arguments: Arguments
    ) async throws -> Result {
        try await Proxy.inherited(self)._call(proxy.proxySubject, arguments)
    }

    /// Makes the same method of a service that refines this one.
    public func _inherited<Proxy: ServiceProxy>(
        by proxy: Proxy.Type, as service: String, _ upcast: @escaping @Sendable (Proxy.ProxiedService) -> Service
    ) -> any ServiceMethod<Proxy.ProxiedService> {
        Method<Proxy.ProxiedService, Arguments, Result>(
            signature.name, of: self.service.named(service), parameters: signature.parameters,
            result: signature.result, effect: signature.effect
        ) { [invoke] in try await invoke(upcast($0), $1) }
    }
}
