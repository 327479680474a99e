// Tells whether the first byte of a connection, and each frame from its first byte to its last, come in time. Pure: arrivals
// and times go in, the limit that a peer has overrun comes out.

package import RPCWire

/// Times the frames of one connection.
package struct FrameTimeout: Sendable {
    private enum Phase: Hashable {
        /// The bytes that have come so far do not tell the framing.
        case nothing(since: Instant)
        case betweenFrames
        case insideFrame(since: Instant, bytes: Int)
    }

    private var phase: Phase
    private var frames = 0

    /// - Parameter awaitsFirstByte: whether the time of the first byte runs.
    package init(awaitsFirstByte: Bool, at now: Instant) {
        phase = awaitsFirstByte ? .nothing(since: now) : .betweenFrames
    }

    /// Counts bytes that came. Called before they are read.
    package mutating func received(_ count: Int) {
        guard case .insideFrame(let since, let bytes) = phase else { return }
        phase = .insideFrame(since: since, bytes: bytes &+ count)
    }

    /// Notes what the bytes that came turned out to be. Called when all of them have been read.
    /// - Parameters:
    ///   - frames: how many frames have been complete since the connection began.
    ///   - isInside: whether a further frame has begun.
    ///   - isTold: whether the framing is known.
    package mutating func looked(frames: Int, isInside: Bool, isTold: Bool, at now: Instant) {
        defer { self.frames = frames }
        guard isTold else { return }
        guard isInside else { return phase = .betweenFrames }
        if case .insideFrame = phase, frames == self.frames { return }
        phase = .insideFrame(since: now, bytes: 0)
    }

    /// Starts the time again, because this end was not reading and so no bytes could come.
    package mutating func excuse(at now: Instant) {
        switch phase {
        case .nothing: phase = .nothing(since: now)
        case .betweenFrames: break
        case .insideFrame(_, let bytes): phase = .insideFrame(since: now, bytes: bytes)
        }
    }

    /// Whether no time runs: the last frame is complete and no other has begun.
    package var isAtRest: Bool { phase == .betweenFrames }

    /// When to check next.
    package func due(_ limits: Limits) -> Instant {
        switch phase {
        case .nothing(let since): since.advanced(by: limits.firstByteTime)
        case .betweenFrames: .distantFuture
        case .insideFrame(let since, let bytes):
            limits.frameTime > .zero
                ? since.advanced(by: limits.frameTime).advanced(
                    by: .seconds(Double(bytes) / Double(max(1, limits.minimumRate))))
                : .distantFuture
        }
    }

    /// The limit that the peer has overrun; nil if none.
    package func overrun(_ limits: Limits, at now: Instant) -> Limit? {
        guard now >= due(limits) else { return nil }
        switch phase {
        case .nothing: return .firstByteTime
        case .betweenFrames: return nil
        case .insideFrame: return .frameTime
        }
    }
}
