// Work that has the loop do the same again.

import RPCSockets
import RPCWire

final class EndlessWork: Sendable {
    private let loop: EventLoop
    private let isOver: @Sendable () -> Bool

    init(on loop: EventLoop, until isOver: @escaping @Sendable () -> Bool) {
        self.loop = loop
        self.isOver = isOver
    }

    func goOn() { loop.submit { [self] in if !isOver() { goOn() } } }
}
