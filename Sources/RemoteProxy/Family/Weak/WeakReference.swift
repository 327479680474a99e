// A weak reference that can be given the look of what it refers to, for protocols that `@Service` does not take.

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
    public private(set) weak var object: Object?

    /// A reference to the object.
    public init(_ object: Object) { self.object = object }
}

/// `@unchecked Sendable`: the reference is written by its initialiser only, and the runtime makes reading a weak one
/// safe from any thread.
extension WeakReference: @unchecked Sendable where Object: Sendable {}
