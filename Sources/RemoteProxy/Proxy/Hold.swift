// A subject held by one caller, while everybody else waits.

/// The right to a locked subject for several calls. Made by `Subject.hold`; `proxy.exclusively { … }` is the way to use
/// one. Calls made while it is entered pass the lock that it stands for; everybody else's wait.
public final class Hold: Sendable {
    /// Runs a body in which calls use this hold.
    let enter: @Sendable (_ scope: inout CallScope) -> Void
    private let giveBack: @Sendable () -> Void

    init(enter: @escaping @Sendable (inout CallScope) -> Void, giveBack: @escaping @Sendable () -> Void) {
        self.enter = enter
        self.giveBack = giveBack
    }

    deinit { giveBack() }

    /// Lets the next one have the subject. Any number of times; a hold that nobody has any more is given back too.
    public func release() { giveBack() }
}
