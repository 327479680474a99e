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
    public weak let object: Object?

    /// A reference to the object.
    public init(_ object: Object) { self.object = object }
}

extension WeakReference: Sendable where Object: Sendable {}
