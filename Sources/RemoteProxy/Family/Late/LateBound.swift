// The late-bound virtual proxy, which exists before its object.

import RPCSockets
package import RPCWire

extension ServiceProxy {
    /// Makes a proxy before its object exists, for two objects that need each other. Give the proxy to the first object, then
    /// bind it when the second one has been made.
    ///
    /// ```swift
    /// let (view, binding) = FeedViewProxy.unbound()
    /// let screen = FeedScreen(delegate: FeedPresenter(view: view))
    /// try binding.bind(to: FeedViewProxy.weak(screen))   // or each would keep the other
    /// ```
    ///
    /// Until then calls wait. At their deadline or the timeout they throw `RPCError` with the code `.deadlineExceeded`,
    /// `.notExecuted`. Posts are kept, and delivered in order when the proxy is bound. Later calls and posts do not
    /// overtake them.
    ///
    /// - Parameters:
    ///   - timeout: How long a call may wait if its deadline is not earlier.
    ///   - maximumKeptPosts: How many posts are kept. Further ones are dropped, with a line in the log.
    /// - Returns: The proxy, and what binds it. Without the binding it is never bound.
    public static func unbound(
        timeout: Duration = .seconds(30), maximumKeptPosts: Int = 1_000
    ) -> (proxy: Self, binding: LateBinding<Self>) {
        unbound(timeout: timeout, maximumKeptPosts: maximumKeptPosts, on: EventLoop.shared)
    }

    package static func unbound(
        timeout: Duration = .seconds(30), maximumKeptPosts: Int = 1_000, on loop: any Loop,
        executor: (any TaskExecutor)? = nil
    ) -> (proxy: Self, binding: LateBinding<Self>) {
        let kind = LateSubject<ProxiedService>.Kind(
            service: _methodTable.service.name, timeout: timeout, limit: maximumKeptPosts)
        let late = LateSubject<ProxiedService>(kind, on: loop, executor: executor)
        return (Self(subject: late), LateBinding(late))
    }
}

/// Gives an unbound proxy its object.
public struct LateBinding<Proxy: ServiceProxy>: Sendable, CustomReflectable {
    private let late: LateSubject<Proxy.ProxiedService>

    fileprivate init(_ late: LateSubject<Proxy.ProxiedService>) { self.late = late }

    /// Shows nothing but the type: what is in it belongs to other threads.
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// Gives the proxy its object, once. Returns without waiting for the kept posts.
    ///
    /// The proxy keeps the object, and so does this binding. Where the object in turn keeps the proxy, bind it to `.weak(object)`.
    /// - Throws: `BindingError` if the proxy has an object already, or would be bound to itself.
    public func bind(to object: Proxy.ProxiedService) throws(BindingError) {
        let subject = Proxy.subject(of: object)
        guard !subject.layers.contains(where: { $0 as? LateSubject<Proxy.ProxiedService> === late }) else {
            throw BindingError("a \(Proxy.self) cannot be bound to itself: its calls would never arrive anywhere")
        }
        guard late.arrive(LateObject(subject: subject)) else {
            throw BindingError("this \(Proxy.self) is bound already, and an object once bound stays")
        }
    }
}

/// Says why a proxy was not bound. It is a mistake in the program, not of a peer.
public struct BindingError: Error, CustomStringConvertible {
    /// What is wrong, and what would be right.
    public let description: String

    init(_ description: String) { self.description = description }
}
