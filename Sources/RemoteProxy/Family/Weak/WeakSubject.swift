// A subject that does not keep its object alive. What the generated `weak(_:)` makes.

/// Forwards to an object for as long as somebody else keeps it. Afterwards calls throw `RPCError` with the code
/// `.subjectGone`, `.notExecuted`, and posts vanish.
public struct WeakSubject<Service: Sendable>: Subject {
    private let object: @Sendable () throws(ObjectIsGone) -> Service

    /// Made by generated code.
    /// - Parameter object: Gives the object for as long as it is there. It throws and does not answer nil, since an
    ///   optional of a type that only the caller knows costs more than the weak reference.
    public init(_ object: @escaping @Sendable () throws(ObjectIsGone) -> Service) { self.object = object }

    /// Calls the object, which stays until the call has ended.
    @inline(__always)
    public func call<Arguments, Result>(
        _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) async throws -> Result {
        let object: Service
        do {
            object = try self.object()
        } catch {
            throw RPCError.objectIsGone(method.signature.service)
        }
        return try await method.run(on: object, arguments)
    }

    /// Delivers the post if the object is still there.
    @inline(__always)
    public func post<Arguments>(_ post: Post<Service, Arguments>, _ arguments: Arguments, now: (Service) -> Void) {
        do { now(try object()) } catch {}
    }
}

/// What a weak reference throws when there is nothing left that it refers to.
public struct ObjectIsGone: Error {
    /// Made by generated code.
    public init() {}
}

extension RPCError {
    @inline(never)
    fileprivate static func objectIsGone(_ service: String) -> RPCError {
        RPCError(
            .subjectGone,
            "the object behind this \(service) is gone, since its proxy refers to it weakly; "
                + "keep the object, or make the proxy without 'weak'",
            outcome: .notExecuted)
    }
}
