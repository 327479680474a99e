// The answers to one batch, collected until the last is there and sent as one array.

import JSONCodec
import RPCSockets
import RPCWire

final class BatchReply: Sendable {
    private struct State {
        var missing: Int
        var text: [UInt8] = []
        var isTooLarge = false
    }

    private let state: Lock<State>
    private let limit: Int

    /// - Parameters:
    ///   - count: how many members of the batch will be answered.
    ///   - limit: the most bytes that all the answers together may have.
    init(count: Int, limit: Int) {
        state = Lock(State(missing: count))
        self.limit = limit
    }

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
        state.withLock { state in
            let before = state.text.count
            state.missing -= 1
            if before + answer.count + 2 > limit {
                state.isTooLarge = true
                state.text = []
            }
            if !state.isTooLarge {
                state.text.append(UInt8(ascii: before == 0 ? "[" : ","))
                state.text.append(contentsOf: answer)
            }
            var reply: Bytes?
            if state.missing == 0 {
                reply = state.isTooLarge ? tooLarge() : close(&state.text)
                state.text = []
            }
            return Collected(change: state.text.count - before, reply: reply, isTooLarge: state.isTooLarge)
        }
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
        MessageEncoder.writeFailure(id: .null, error: error, in: output)
        return Bytes(copying: output.bytes)
    }
}
