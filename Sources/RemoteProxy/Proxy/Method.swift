// One requirement that has a reply, with its types: its name, how it is called, and how its arguments and result travel.

package import JSONCodec
import RPCWire

/// A requirement of a service that is called and answered.
///
/// The client encodes by it, the server decodes and calls by it, and local proxies hand it on unchanged.
///
/// `Arguments` is a tuple of all parameters with their names, the type of the only parameter, or `Void`.
///
/// A class, because generated code has one for each requirement: copying a value of several closures took a fifth of the time in
/// which that code compiles. `@unchecked Sendable`: needs no lock, since all properties are constants.
public final class Method<Service: Sendable, Arguments: Sendable, Result: Sendable>: _ServiceMethod<Service>,
    @unchecked Sendable
{
    let service: _ServiceDescription
    let coding: _ArgumentCoding<Arguments>
    let results: _ResultCoding<Result>
    let invoke: @Sendable (Service, Arguments) async throws -> Result
    /// Notes how far the last subject of a chain has come with this call. Nil unless the call came over a connection.
    let progress: CallProgress?

    /// Made by generated code. A parameter with an underscore keeps it out of completion and documentation.
    public convenience init(
        _ _name: String, of service: _ServiceDescription, parameters: KeyValuePairs<String, String> = [:],
        result: String? = nil, effect: MethodSignature.Effect = .changes, coding: _ArgumentCoding<Arguments>,
        invoke: @escaping @Sendable (Service, Arguments) async throws -> Result
    ) where Result: Codable {
        self.init(
            _name, of: service, parameters: parameters, result: result, effect: effect, coding: coding,
            results: .codable,
            invoke: invoke)
    }

    /// Chosen only for a result that is not `Codable`. With it the compiler prints one error, which says what to do.
    @_disfavoredOverload
    @available(
        *, unavailable,
        message:
            "this result is not Codable; declare its type so, and 'nonisolated' in a module isolated to the main actor; an object of a service is spelled out: 'any Book'"
    )
    public convenience init(
        _ name: String, of service: _ServiceDescription, parameters: KeyValuePairs<String, String> = [:],
        result: String? = nil, effect: MethodSignature.Effect = .changes, coding: _ArgumentCoding<Arguments>,
        invoke: @escaping @Sendable (Service, Arguments) async throws -> Result
    ) {
        self.init(
            name, of: service, coding: coding,
            results: _ResultCoding(
                read: { _, _ in throw ArgumentFault.parameters("not Codable") },
                write: { _, _, _ in throw ArgumentFault.parameters("not Codable") }), invoke: invoke)
    }

    /// Made by generated code for a result that is sent as another type, such as an object as a `Reference`.
    public convenience init(
        _ _name: String, of service: _ServiceDescription, parameters: KeyValuePairs<String, String> = [:],
        result: String? = nil, effect: MethodSignature.Effect = .changes, coding: _ArgumentCoding<Arguments>,
        results: _ResultCoding<Result>, invoke: @escaping @Sendable (Service, Arguments) async throws -> Result
    ) {
        let signature = MethodSignature(
            service: service.name, name: _name, parameters: parameters.map(MethodSignature.Parameter.init),
            result: result, shape: .call, effect: effect)
        self.init(signature, of: service, coding, results, invoke)
    }

    private init(
        _ signature: MethodSignature, of service: _ServiceDescription, _ coding: _ArgumentCoding<Arguments>,
        _ results: _ResultCoding<Result>, declared: ObjectIdentifier? = nil,
        _ invoke: @escaping @Sendable (Service, Arguments) async throws -> Result
    ) {
        self.service = service
        self.coding = coding
        self.results = results
        self.invoke = invoke
        progress = nil
        super.init(signature, declared: declared)
    }

    /// The same method, for one call that tells how far it has come.
    init(_ method: Method, telling progress: CallProgress) {
        service = method.service
        coding = method.coding
        results = method.results
        invoke = method.invoke
        self.progress = progress
        super.init(method.signature, declared: method.declaration)
    }

    /// Generic code of this module. Specialised for each method, it would make posts a tenth faster and calls not measurably, and
    /// generated code would take a quarter longer to compile.
    override func exported() -> ExportedMethod? {
        ExportedMethod(signature: signature, service: service, run: answer)
    }

    override var returnsObjects: Bool { results.areObjects }

    @Sendable private func answer(_ call: IncomingCall) async throws {
        var call = call
        if let chain = call.chain(Service.self) { return try await answer(call, through: chain) }
        let object = call.service(Service.self)
        repeat {
            let arguments = try call.arguments(coding, of: signature)
            do {
                try call.answer(await invoke(object, arguments), results)
            } catch {
                throw error.thrownByObject
            }
        } while try call.advanceToNextCall()
    }

    @Sendable private func answer(_ call: IncomingCall, through chain: any Subject<Service>) async throws {
        try call.answer(await chain.answer(self, call.arguments(coding, of: signature)), results)
    }

    override func inherited<Proxy: ServiceProxy>(
        by proxy: Proxy.Type, as service: String, _ upcast: @escaping @Sendable (Proxy.ProxiedService) -> Service
    ) -> _ServiceMethod<Proxy.ProxiedService>? {
        Method<Proxy.ProxiedService, Arguments, Result>(
            signature.of(service), of: self.service.named(service), coding, results, declared: declaration
        ) { [invoke] in try await invoke(upcast($0), $1) }
    }

    /// Calls the method on an object in this process, as a subject that has the object does. Nothing is encoded, and no layer is
    /// passed. Returns when the object has returned, also if the task is cancelled.
    /// - Throws: what the object throws.
    public func callAsFunction(on object: Service, _ arguments: Arguments) async throws -> Result {
        try await run(on: object, arguments)
    }
}

// MARK: what generated code calls

extension Method {
    /// Performs a call, as `Subject.call` does. Inlined where a generated proxy calls it. There a call that goes to the other end
    /// of a connection, with nothing before or after, is awaited in the caller's own frame.
    @inlinable @inline(__always)
    nonisolated(nonsending) public func _call(
        _ subject: any Subject<Service>, _ arguments: Arguments
    ) async throws -> Result {
        guard let remote = subject._remoteCall(signature) else { return try await callThrough(subject, arguments) }
        defer { extendLifetime(subject) }
        return try await remote.perform(self, arguments)
    }

    // What `_RemoteCall.perform` does before and after the wait. Members of the method, whose class has the types as parameters,
    // so that generated code passes no types. The call and the requester are not counted here, for the reasons at `_RemoteCall`.

    /// Writes the arguments, and begins the call.
    @usableFromInline
    func begin(_ remote: _RemoteCall, _ arguments: Arguments) throws {
        var writer = remote.call._withUnsafeGuaranteedRef { _ArgumentWriter($0.message, in: remote.context) }
        do { try coding.write(arguments, &writer) } catch { throw remote.notEncoded(error, signature) }
        writer.writeEnd()
        remote.begin()
    }

    /// Returns the result of the call, which has ended.
    @usableFromInline
    func end(_ remote: _RemoteCall) throws -> Result {
        remote.end()
        let (requester, call) = (remote.requester, remote.call)
        let (end, mayHaveRun) = call._withUnsafeGuaranteedRef { ($0.takeEnd(), $0.mayHaveRun) }
        // The result is read with what the call knows.
        defer { requester._withUnsafeGuaranteedRef { $0.spareCalls.give(call.takeRetainedValue()) } }
        switch end {
        case .result(let json): return try remote.read(json, results, of: signature)
        case .failure(let error):
            throw remote.error(service.error(from: error), of: signature, mayHaveRun).thrownByProxy
        case .failed(.cancelled(let wasSent)):
            progress?.add(wasSent || mayHaveRun ? .unknown : .notExecuted)
            throw CancellationError()
        case .failed(let failure):
            throw requester._withUnsafeGuaranteedRef { $0.error(failure, of: signature) }.thrownByProxy
        }
    }

    @usableFromInline
    nonisolated(nonsending) func callThrough(
        _ subject: any Subject<Service>, _ arguments: Arguments
    ) async throws -> Result {
        do { return try await subject.call(self, arguments) } catch { throw error.thrownByProxy }
    }

    /// Calls an inherited method.
    /// - Throws: as `_call`; `RPCError` with the code `.noSuchMethod` if the service has another method of that name.
    nonisolated(nonsending) public func _call<Proxy: ServiceProxy>(
        inheritedBy proxy: Proxy, _ arguments: Arguments
    ) async throws -> Result {
        let method: Method<Proxy.ProxiedService, Arguments, Result> = try Proxy.inherited(self)
        return try await method._call(proxy.proxySubject, arguments)
    }
}

// MARK: how results travel

/// Reads and writes the result of one method. Opaque outside the library.
public struct _ResultCoding<Result: Sendable>: Sendable {
    /// Reads one JSON value, from a message that has been read or from a String.
    let read: @Sendable (UnsafeRawBufferPointer, CodingContext) throws -> Result
    let write: @Sendable (Result, JSONOutput, CodingContext) throws -> Void
    /// Whether it is an object, or has some in it.
    let areObjects: Bool

    package init(
        read: @escaping @Sendable (UnsafeRawBufferPointer, CodingContext) throws -> Result,
        write: @escaping @Sendable (Result, JSONOutput, CodingContext) throws -> Void, areObjects: Bool = false
    ) {
        (self.read, self.write, self.areObjects) = (read, write, areObjects)
    }
}

extension _ResultCoding {
    /// Made by generated code for a result that is, or has in it, an object.
    public init<Sent: Codable & SendableMetatype>(
        sent: @escaping @Sendable (Result) -> Sent, received: @escaping @Sendable (Sent) -> Result
    ) {
        self.init(
            read: { received(try decodeJSON(Sent.self, from: $0, isKnownUTF8: true, in: $1)) },
            write: { try $1.encode(sent($0), in: $2) }, areObjects: true)
    }
}

extension _ResultCoding where Result: Codable {
    /// For a result that travels as the value it is.
    package static var codable: _ResultCoding {
        _ResultCoding(
            read: { try decodeJSON(Result.self, from: $0, isKnownUTF8: true, in: $1) },
            write: { try $1.encode($0, in: $2) })
    }
}
