// Whether what a peer sends comes fast enough: its first byte, and each frame from its first byte to its last. Pure:
// what came and when in, which limit it has run into out.

package import RPCWire

package struct FrameTimeout: Sendable {
    private enum Phase: Hashable {
        /// Nothing that tells the framing has come.
        case nothing(since: Instant)
        case betweenFrames
        case insideFrame(since: Instant, bytes: Int)
    }

    /// In nanoseconds, half as large as durations: there may be ten thousand of these.
    private let firstByteTime: Int64
    private let frameTime: Int64
    private let minimumRate: Int
    private var phase: Phase
    private var frames = 0

    /// - Parameters:
    ///   - firstByteTime: how long a peer may say nothing at all; zero for ever.
    ///   - frameTime: how long a frame may take, however small.
    ///   - minimumRate: how many bytes of it earn a second more.
    package init(firstByteTime: Duration, frameTime: Duration, minimumRate: Int, at now: Instant) {
        self.firstByteTime = firstByteTime.nanoseconds
        self.frameTime = frameTime.nanoseconds
        self.minimumRate = max(1, minimumRate)
        phase = firstByteTime > .zero ? .nothing(since: now) : .betweenFrames
    }

    /// So many bytes came. They are looked at later.
    package mutating func received(_ count: Int) {
        guard case .insideFrame(let since, let bytes) = phase else { return }
        phase = .insideFrame(since: since, bytes: bytes &+ count)
    }

    /// All that came has been looked at.
    /// - Parameters:
    ///   - frames: how many frames have been whole, ever.
    ///   - isInside: whether another one has begun.
    ///   - isTold: whether the framing is known.
    package mutating func looked(frames: Int, isInside: Bool, isTold: Bool, at now: Instant) {
        defer { self.frames = frames }
        guard isTold else { return }
        guard isInside else { return phase = .betweenFrames }
        if case .insideFrame = phase, frames == self.frames { return }
        phase = .insideFrame(since: now, bytes: 0)
    }

    /// This end was not reading: nobody can be blamed for what has not come.
    package mutating func excuse(at now: Instant) {
        switch phase {
        case .nothing: phase = .nothing(since: now)
        case .betweenFrames: break
        case .insideFrame(_, let bytes): phase = .insideFrame(since: now, bytes: bytes)
        }
    }

    /// Whether nothing is expected: the last frame is whole and no other has begun.
    package var isAtRest: Bool { phase == .betweenFrames }

    /// When to check next.
    package var due: Instant {
        switch phase {
        case .nothing(let since): since.advanced(by: .nanoseconds(firstByteTime))
        case .betweenFrames: .distantFuture
        case .insideFrame(let since, let bytes):
            frameTime > 0
                ? since.advanced(by: .nanoseconds(frameTime)).advanced(
                    by: .seconds(Double(bytes) / Double(minimumRate)))
                : .distantFuture
        }
    }

    /// The limit that is overrun, if one is.
    package func overrun(at now: Instant) -> Limit? {
        guard now >= due else { return nil }
        switch phase {
        case .nothing: return .firstByteTime
        case .betweenFrames: return nil
        case .insideFrame: return .frameTime
        }
    }
}
