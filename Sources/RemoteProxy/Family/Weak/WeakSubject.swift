// A subject that does not keep its object alive. What the generated `weak(_:)` makes.

/// Forwards to an object for as long as something else keeps it. Afterwards calls throw `RPCError` with the code
/// `.subjectGone`, `.notExecuted`, and posts vanish.
public struct WeakSubject<Service: Sendable>: Subject {
    private let object: WeakObject<Service>

    /// Made by generated code, which knows the class of the object and how it is seen as the service.
    public init<Object: AnyObject & Sendable>(_ object: Object, _ view: @escaping @Sendable (Object) -> Service) {
        self.object = WeakObject(object, view)
    }

    /// Calls the object, which stays until the call has ended.
    public func call<Arguments, Result>(
        _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) async throws -> Result {
        guard let object = object.value else {
            throw RPCError(
                .subjectGone,
                "the object behind this \(method.signature.service) is gone, since its proxy refers to it weakly; "
                    + "keep the object, or make the proxy without 'weak'",
                outcome: .notExecuted)
        }
        return try await method.run(on: object, arguments)
    }

    /// Delivers the post if the object is still there.
    public func post<Arguments>(_ post: Post<Service, Arguments>, _ arguments: Arguments, now: (Service) -> Void) {
        if let object = object.value { now(object) }
    }
}

extension WeakSubject: EndSubject {}

/// A weak reference to an object, seen as the service that it is. A class, since copies of a weak reference cost more than
/// copies of a reference to one.
final class WeakObject<Service: Sendable>: Sendable {
    private let load: @Sendable () -> Service?

    init<Object: AnyObject & Sendable>(_ object: Object, _ view: @escaping @Sendable (Object) -> Service?) {
        load = { [weak object] in object.flatMap(view) }
    }

    /// - Parameter object: an instance of a class that is the service, which only its type at run time tells.
    init(unseen object: AnyObject) {
        let reference = Reference(object)
        load = { reference.object as? Service }
    }

    /// Nil when the object is gone.
    var value: Service? { load() }
}

/// `@unchecked Sendable`: the object is a service, which is, and the reference to it does not change.
private final class Reference: @unchecked Sendable {
    weak let object: AnyObject?

    init(_ object: AnyObject) { self.object = object }
}
