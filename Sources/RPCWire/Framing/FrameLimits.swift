// How much a peer may send before a frame is whole. Each limit is named, with its value, in the error it causes.

package struct FrameLimits: Sendable, Hashable {
    /// Bytes of one frame, without its prefix, headers or line end.
    package var maximumFrameSize: Int
    /// Bytes of one header block, from its first name to the blank line.
    package var maximumHeaderBlock: Int
    package var maximumHeaderLines: Int

    package init(
        maximumFrameSize: Int = 16_777_216, maximumHeaderBlock: Int = 8_192, maximumHeaderLines: Int = 64
    ) {
        self.maximumFrameSize = maximumFrameSize
        self.maximumHeaderBlock = maximumHeaderBlock
        self.maximumHeaderLines = maximumHeaderLines
    }
}
