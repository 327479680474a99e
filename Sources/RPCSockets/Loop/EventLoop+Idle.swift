// What is left for when there is nothing else to do.

import RPCWire

extension EventLoop {
    /// After so many nanoseconds it is done even if there still is something else.
    private static let longestPostponement: Int64 = 2_000_000

    package var staysAwake: Bool { looksOut && lookout.isWorthwhile }

    package func whenIdle(_ work: @escaping @Sendable () -> Void) {
        guard isCurrent else { return submit { [self] in whenIdle(work) } }
        if idleWork.isEmpty { idleWorkIsDue = now.advanced(byNanoseconds: Self.longestPostponement) }
        idleWork.append(work)
    }

    func doIdleWork() {
        for work in exchange(&idleWork, with: []) { work() }
    }
}
