// What a stream puts up with from its peer: how much output may wait for it and for how long, and how long silence.

package struct OutputLimits: Sendable, Hashable {
    /// Queued bytes above which a server stops reading from the peer that does not read, until half is gone.
    package var pauseReading = 1 << 20
    /// Queued bytes above which the stream fails when one more message is queued.
    package var maximum = 16 << 20
    /// How long a peer may take nothing of what waits for it.
    package var patience = Duration.seconds(30)

    /// How long a stream that has finished waits for the peer to close as well.
    package var linger = Duration.seconds(1)

    /// How long the peer may be silent before its system is asked whether it is there; zero for ever.
    package var keepaliveInterval = Duration.seconds(15)
    /// How long its system may take to answer, beyond that.
    package var keepaliveTimeout = Duration.seconds(5)

    package init() {}
}
