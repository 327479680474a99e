// The back end of a loop for which the process had no descriptors when it was made: timers and work go on, what watches
// descriptors says why it cannot, and as soon as there are some it is a back end like the others.

import CSystem

final class LateSelector: Selector, Sendable {
    /// `@unchecked Sendable`: used on the loop's thread, save `wake`, which is for everybody.
    private struct Real: @unchecked Sendable {
        let selector: any Selector
    }

    private struct State {
        var real: Real?
        /// Somebody wanted to end a wait before there was a real one.
        var isWoken = false
    }

    /// How often it is tried while there is nothing to sleep on.
    private static let pause: Int64 = 10_000_000

    private let state = Lock(State())
    private let make: @Sendable () throws(SystemError) -> any Selector

    init(_ make: @escaping @Sendable () throws(SystemError) -> any Selector = EventLoop.Backend.best.makeSelector) {
        self.make = make
    }

    func add(_ descriptor: Int32, _ interest: Interest, tag: UInt64) throws(SystemError) {
        try found().add(descriptor, interest, tag: tag)
    }

    func change(_ descriptor: Int32, _ interest: Interest, tag: UInt64) throws(SystemError) {
        try found().change(descriptor, interest, tag: tag)
    }

    func remove(_ descriptor: Int32) { real?.remove(descriptor) }

    func wait(nanoseconds: Int64?) -> Int {
        guard let real = try? found() else {
            nap(nanoseconds ?? Self.pause)
            return 0
        }
        return takeWake() ? 0 : real.wait(nanoseconds: nanoseconds)
    }

    func event(_ index: Int) -> ReadyEvent {
        real?.event(index) ?? ReadyEvent(tag: .max, readiness: [])
    }

    func wake() {
        let real = state.withLock { state in
            if state.real == nil { state.isWoken = true }
            return state.real
        }
        real?.selector.wake()
    }

    private var real: (any Selector)? { state.withLock { $0.real }?.selector }

    /// The real one, made now if it can be.
    private func found() throws(SystemError) -> any Selector {
        if let real { return real }
        let made = Real(selector: try make())
        state.withLock { $0.real = made }
        return made.selector
    }

    /// The loop looks again whether there is something to do whenever a wait is over, however short it was.
    private func nap(_ nanoseconds: Int64) {
        guard !takeWake() else { return }
        _ = poll(nil, 0, LateSelector.milliseconds(min(nanoseconds, Self.pause)))
    }

    private func takeWake() -> Bool {
        state.withLock { state in
            defer { state.isWoken = false }
            return state.isWoken
        }
    }
}
