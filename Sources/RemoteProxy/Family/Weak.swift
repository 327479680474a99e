// Weak references: a subject that does not keep its object alive, and a reference for protocols that `@Service` does not take.

/// Forwards to an object without keeping it alive. When the object is gone, calls throw `RPCError` with the code
/// `.noSuchObject`, `.notExecuted`, and posts vanish.
public struct _WeakSubject<Service: Sendable>: Subject {
    let object: WeakObject<Service>

    /// Made by generated code.
    /// - Parameter object: returns the object, which the closure refers to weakly; throws `_ObjectIsGone` if it is gone.
    public init(_ object: @escaping @Sendable () throws -> Service) { self.object = WeakObject(object) }

    /// Calls the object, which is kept alive until the call has ended.
    @inline(__always)
    public func call<Arguments, Result>(
        _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) async throws -> Result {
        try await method.run(on: object(of: method.signature), arguments)
    }

    /// Delivers the post if the object still exists.
    public func post<Arguments>(_ post: Post<Service, Arguments>, _ arguments: Arguments, now: (Service) -> Void) {
        do { now(try object.value()) } catch {}
    }
}

extension _WeakSubject {
    private func object(of method: MethodSignature) throws -> Service {
        do {
            return try object.value()
        } catch {
            throw RPCError(
                .noSuchObject,
                "the object behind this \(method.service) is gone, since its proxy refers to it weakly; "
                    + "keep the object, or make the proxy without 'weak'",
                outcome: .notExecuted)
        }
    }
}

extension _WeakSubject: EndSubject {}

extension _WeakSubject: WeakSubject {
    var target: ObjectIdentifier? { (try? object.value()).map { ObjectIdentifier($0 as AnyObject) } }
}

/// Thrown by generated code when an object that it refers to weakly is gone.
public struct _ObjectIsGone: Error {
    /// Made by generated code.
    public init() {}
}

/// A weak reference to an object, which is typed as its service.
final class WeakObject<Service: Sendable>: Sendable {
    private let load: @Sendable () throws -> Service

    init(_ load: @escaping @Sendable () throws -> Service) { self.load = load }

    /// Throws when the object is gone. It does not return nil, because an optional of a type that only the caller knows takes longer
    /// than the reference.
    @inline(__always)
    func value() throws -> Service { try load() }

    var isGone: Bool { (try? load()) == nil }
}

/// Refers to an object without keeping it alive. Conform it to a protocol of yours, and use it wherever that protocol is
/// needed:
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
