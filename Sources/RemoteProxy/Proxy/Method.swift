// One requirement that has a reply, with its types: its name, how it is called, and how its arguments and result travel.

/// A requirement of a service that is called and answered.
///
/// The client encodes by it, the server decodes and calls by it, and local proxies hand it on unchanged.
public struct Method<Service: Sendable, Arguments: MethodArguments, Result: Codable & Sendable>: Sendable {
    /// The name, the parameters and the shape.
    public let signature: MethodSignature
    let service: ServiceDescription
    let invoke: @Sendable (Service, Arguments) async throws -> Result
    /// Answers a call from the wire.
    let answer: @Sendable (_IncomingCall) async throws -> Void
    /// Notes how far the last subject of a chain has come with this call. Nil unless the call came over a connection.
    var progress: CallProgress?

    /// Made by generated code. Inlined there, so that one function, in which all types are known, answers a call.
    @inlinable
    public init(
        _ name: String, of service: ServiceDescription, parameters: [MethodSignature.Parameter] = [],
        result: String? = nil, effect: MethodSignature.Effect = .changes,
        invoke: @escaping @Sendable (Service, Arguments) async throws -> Result
    ) {
        self.init(name, of: service, parameters: parameters, result: result, effect: effect, invoke: invoke) { call in
            var call = call
            let service = call.service(Service.self)
            repeat {
                let arguments = try call.arguments(Arguments.self)
                do {
                    try call.answer(await invoke(service, arguments))
                } catch {
                    throw call.thrown(error)
                }
            } while try call.advanceToNextCall()
        }
    }

    @usableFromInline
    init(
        _ name: String, of service: ServiceDescription, parameters: [MethodSignature.Parameter], result: String?,
        effect: MethodSignature.Effect, invoke: @escaping @Sendable (Service, Arguments) async throws -> Result,
        answer: @escaping @Sendable (_IncomingCall) async throws -> Void
    ) {
        signature = MethodSignature(
            service: service.name, name: name, parameters: parameters, result: result, shape: .call, effect: effect)
        self.service = service
        self.invoke = invoke
        self.answer = answer
    }

    /// Calls the method on an object in this process, as a subject that has the object does.
    /// - Throws: what the object throws.
    public func callAsFunction(on object: Service, _ arguments: Arguments) async throws -> Result {
        try await run(on: object, arguments)
    }
}
