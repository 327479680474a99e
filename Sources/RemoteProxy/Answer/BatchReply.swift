// The answers to one batch, collected until the last is there and sent as one array.

import JSONCodec
import RPCWire

/// `@unchecked Sendable`: touched on the loop's thread only.
final class BatchReply: @unchecked Sendable {
    private var missing: Int
    private var text: [UInt8] = []
    private var isTooLarge = false
    private let limit: Int

    /// - Parameters:
    ///   - count: how many members of the batch will be answered.
    ///   - limit: the most bytes that all the answers together may have.
    init(count: Int, limit: Int) { (missing, self.limit) = (count, limit) }

    /// What has become of the reply with one answer more.
    struct Collected {
        /// How many bytes more are kept until the last answer is there, or less.
        var change: Int
        /// The whole reply if that was the last.
        var reply: Bytes?
        /// Whether all that it says is that it would be too large.
        var isTooLarge: Bool
    }

    /// Takes one answer.
    func add(_ answer: UnsafeRawBufferPointer) -> Collected {
        let before = text.count
        missing -= 1
        if before + answer.count + 2 > limit {
            isTooLarge = true
            text = []
        }
        if !isTooLarge {
            text.append(UInt8(ascii: before == 0 ? "[" : ","))
            text.append(contentsOf: answer)
        }
        var reply: Bytes?
        if missing == 0 {
            reply = isTooLarge ? tooLarge() : close(&text)
            text = []
        }
        return Collected(change: text.count - before, reply: reply, isTooLarge: isTooLarge)
    }

    private func close(_ text: inout [UInt8]) -> Bytes {
        text.append(UInt8(ascii: "]"))
        return text.withUnsafeBytes { Bytes(copying: $0) }
    }

    private func tooLarge() -> Bytes {
        let output = JSONOutput()
        let error = ErrorObject(
            code: ErrorCode.batchReplyTooLarge,
            message: "the answers to the batch have more than \(limit) bytes (maximumFrameSize)")
        MessageWriter.writeFailure(id: .null, error: error, in: output)
        return Bytes(copying: output.bytes)
    }
}
