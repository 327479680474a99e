// What an export, a receiver of a multicast proxy, or an action for a caller's end is taken back with.

/// Takes back one export, one receiver of a multicast proxy, or one action of ``Caller/whenGone(_:)``.
///
/// Need not be kept: what was registered stays when its registration is released.
public struct Registration: Sendable {
    /// Why the object was not exported; nil if it was. Nil for everything that is no export.
    public let refusal: String?
    private let takeBack: @Sendable () -> Void

    package init(refusal: String? = nil, _ takeBack: @escaping @Sendable () -> Void = {}) {
        (self.refusal, self.takeBack) = (refusal, takeBack)
    }

    /// Takes back what was registered. An object that was exported later under the same name stays. Does nothing the second
    /// time, and nothing if there is nothing to take back any more. Callable from any thread.
    public func cancel() { takeBack() }
}
