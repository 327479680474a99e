// Collects the answers to one batch, and gives them as one array when the last is there.

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
    ///   - limit: the most bytes that all answers together may have.
    init(count: Int, limit: Int) { (missing, self.limit) = (count, limit) }

    /// Takes one answer.
    /// - Returns: how many more bytes, or fewer, are kept until the last answer is there; after the last answer the whole reply;
    ///   whether the reply is a single error, because the answers are too large together.
    func add(_ answer: UnsafeRawBufferPointer) -> (change: Int, reply: Bytes?, isTooLarge: Bool) {
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
        return (text.count - before, reply, isTooLarge)
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
