// How much output may wait for a peer that reads too slowly, and for how long.

package struct OutputLimits: Sendable, Hashable {
    /// Queued bytes above which a server stops reading from the peer that does not read, until half is gone.
    package var pauseReading = 1 << 20
    /// Queued bytes above which the stream fails.
    package var maximum = 32 << 20
    /// How long a peer may take nothing of what waits for it.
    package var patience = Duration.seconds(30)

    /// How long a stream that has finished waits for the peer to close as well.
    package var linger = Duration.seconds(1)

    package init() {}
}
