// A stream that is read by who waits for what comes: the loop's thread, asleep, is not woken by it. For as long as answers are
// looked for again and again, and hardly longer, since nobody knows whether the caller who got the last one calls once more.
// Everything here runs on the loop.

import RPCWire
import Synchronization

extension SocketStream {
    /// For so long at most nobody looks; what comes unasked may come that much later.
    private static let longestSilence = Duration.milliseconds(2)

    /// Known elsewhere too, though there it may be over.
    var isMuted: Bool { silence.load(ordering: .relaxed) }

    /// Somebody looks now for what comes.
    func mute() {
        substitutes &+= 1
        guard !isMuted else { return }
        silence.store(true, ordering: .relaxed)
        changeRegistration()
        unmuteLater()
    }

    func unmute() {
        guard isMuted else { return }
        silence.store(false, ordering: .relaxed)
        changeRegistration()
    }

    private func unmuteLater() {
        let before = substitutes
        eventLoop.schedule(at: eventLoop.now.advanced(by: Self.longestSilence)) { [weak self] in
            guard let self, isMuted else { return }
            if substitutes == before { unmute() } else { unmuteLater() }
        }
    }
}
