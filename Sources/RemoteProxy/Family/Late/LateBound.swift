// The late-bound virtual proxy: there before its object.

import RPCSockets
package import RPCWire

extension ServiceProxy {
    /// A proxy that is there before its object, for objects that need each other: give the proxy to the one that is made
    /// first, and `bind(to:)` it once the other one is there.
    ///
    /// ```swift
    /// let view = FeedViewProxy.unbound()
    /// let screen = FeedScreen(delegate: FeedPresenter(view: view))
    /// try view.bind(to: FeedViewProxy.weak(screen))   // or each would keep the other
    /// ```
    ///
    /// Until then calls wait, and throw `RPCError` with the code `.deadlineExceeded`, `.notExecuted`, when their deadline
    /// or the timeout comes first. Posts are kept and are delivered in order when the proxy is bound; what is called or
    /// posted later does not overtake them.
    ///
    /// - Parameters:
    ///   - timeout: How long a call may wait if its deadline is not earlier.
    ///   - limit: How many posts are kept. Further ones are dropped and counted in `refusedPosts`.
    public static func unbound(timeout: Duration = .seconds(30), limit: Int = 1_000) -> Self {
        unbound(timeout: timeout, limit: limit, on: EventLoop.shared)
    }

    package static func unbound(
        timeout: Duration = .seconds(30), limit: Int = 1_000, on loop: any Loop, executor: (any TaskExecutor)? = nil
    ) -> Self {
        let kind = LateSubject<ProxiedService>.Kind(
            service: methodTable.service.name, timeout: timeout, limit: limit)
        return Self(subject: LateSubject(kind, on: loop, executor: executor))
    }

    /// Gives an unbound proxy its object, once and for all. Returns without waiting for the posts that were kept.
    ///
    /// The proxy keeps the object. Where the object in turn keeps the proxy, bind it to `.weak(object)`.
    /// - Throws: `BindingError` when the proxy has an object already, is not made by `unbound`, or would be bound to
    ///   itself.
    public func bind(to object: ProxiedService) throws(BindingError) {
        guard let late = proxySubject.layer(LateSubject<ProxiedService>.self), !late.makesObject else {
            throw BindingError("this \(Self.self) cannot be bound; one made by \(Self.self).unbound() can")
        }
        let subject = Self.subject(of: object)
        guard !subject.layers.contains(where: { $0 as? LateSubject<ProxiedService> === late }) else {
            throw BindingError("a \(Self.self) cannot be bound to itself: its calls would never arrive anywhere")
        }
        guard late.arrive(LateObject(subject: subject)) else {
            throw BindingError("this \(Self.self) is bound already, and an object once bound stays")
        }
    }

    /// How many posts were dropped, because as many as may be waited for the object of this lazy or late-bound proxy.
    public var refusedPosts: Int { proxySubject.layer(LateSubject<ProxiedService>.self)?.refusedPosts ?? 0 }
}

/// Why a proxy was not bound: a mistake of the program, not of a peer.
public struct BindingError: Error, CustomStringConvertible {
    /// What is wrong and what would be right.
    public let description: String

    init(_ description: String) { self.description = description }
}
