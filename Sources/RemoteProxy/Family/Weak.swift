// Weak references: a subject that does not keep its object alive, and a reference for protocols that `@Service` does not take.

/// Forwards to an object for as long as something else keeps it. Afterwards calls throw `RPCError` with the code
/// `.subjectGone`, `.notExecuted`, and posts vanish.
public struct WeakSubject<Service: Sendable>: Subject {
    private let object: WeakObject<Service>

    /// Made by generated code.
    /// - Parameter object: gives the object, which it refers to weakly; nil when that is gone.
    public init(_ object: @escaping @Sendable () -> Service?) { self.object = WeakObject(object) }

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
        return try await method(on: object, arguments)
    }

    /// Delivers the post if the object is still there.
    public func post<Arguments>(_ post: Post<Service, Arguments>, _ arguments: Arguments, now: (Service) -> Void) {
        if let object = object.value { now(object) }
    }
}

extension WeakSubject: EndSubject {}

/// A weak reference to an object, seen as the service that it is.
final class WeakObject<Service: Sendable>: Sendable {
    private let load: @Sendable () -> Service?

    init(_ load: @escaping @Sendable () -> Service?) { self.load = load }

    /// - Parameter object: an instance of a class that is the service, which only its type at run time tells.
    convenience init(unseen object: AnyObject) {
        let reference = Reference(object)
        self.init { reference.object as? Service }
    }

    /// Nil when the object is gone.
    var value: Service? { load() }
}

/// `@unchecked Sendable`: the object is a service, which is, and the reference to it does not change.
private final class Reference: @unchecked Sendable {
    weak let object: AnyObject?

    init(_ object: AnyObject) { self.object = object }
}

/// Refers to an object without keeping it. Conform it to a protocol of yours, and it stands in for the object wherever
/// that protocol is asked for:
///
/// ```swift
/// protocol ListCell: AnyObject {                // generics, closures: not for @Service
///     func show<Item: Identifiable>(_ item: Item, done: () -> Void)
/// }
///
/// extension WeakReference: ListCell where Object: ListCell {
///     func show<Item: Identifiable>(_ item: Item, done: () -> Void) { object?.show(item, done: done) }
/// }
///
/// presenter.cell = WeakReference(cell)
/// ```
///
/// For a service, `XProxy.weak(object)` does the same without the extension.
public final class WeakReference<Object: AnyObject> {
    /// The object; nil once it is gone.
    public weak let object: Object?

    /// A reference to the object.
    public init(_ object: Object) { self.object = object }
}

extension WeakReference: Sendable where Object: Sendable {}
