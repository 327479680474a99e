// A subject that does not keep its object alive. What the generated `weak(_:)` makes.

/// Forwards to an object for as long as somebody else keeps it. Afterwards calls throw `RPCError` with the code
/// `.subjectGone`, `.notExecuted`, and posts vanish.
public struct WeakSubject<Service: Sendable>: Subject {
    private let object: WeakValue<Service>

    /// Made by generated code, which names the object twice: as what it does, and as the instance of a class that it is.
    public init(_ service: Service, of object: AnyObject) { self.object = WeakValue(service, of: object) }

    /// Calls the object, which stays until the call has ended.
    @inline(__always)
    public func call<Arguments, Result>(
        _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) async throws -> Result {
        let object: Service
        do {
            object = try self.object.value()
        } catch {
            throw RPCError.objectIsGone(method.signature.service)
        }
        return try await method.run(on: object, arguments)
    }

    /// Delivers the post if the object is still there.
    @inline(__always)
    public func post<Arguments>(_ post: Post<Service, Arguments>, _ arguments: Arguments, now: (Service) -> Void) {
        do { now(try object.value()) } catch {}
    }
}

extension WeakSubject: EndSubject {}

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
