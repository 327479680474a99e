// Spreads the handshakes of one loop over its turns. The step of a handshake takes as long as a hundred calls.

package import RPCWire

/// Lets the handshakes of a loop take turns, one step at a time. Between two steps the loop does its other work.
package final class HandshakeLine: Sendable {
    private let loop: any Loop
    private let steps = Lock(Queue<@Sendable () -> Void>())

    package init(of loop: any Loop) { self.loop = loop }

    /// Runs the step on the loop, when those before it have been run.
    func join(_ step: @escaping @Sendable () -> Void) {
        let isFirst = steps.withLock { steps in
            steps.append(step)
            return steps.count == 1
        }
        if isFirst { loop.submit { [self] in runNext() } }
    }

    private func runNext() {
        // Stays in the line while it runs, so that another that joins is not the first.
        guard let step = steps.withLock({ $0.isEmpty ? nil : $0[0] }) else { return }
        step()
        let isMore = steps.withLock { steps in
            _ = steps.popFirst()
            return !steps.isEmpty
        }
        if isMore { loop.submit { [self] in runNext() } }
    }
}
