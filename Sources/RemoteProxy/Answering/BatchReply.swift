// The answers to one batch, collected until the last is there and sent as one array.

import JSONCodec
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

    /// Takes one answer; returns the whole reply when it was the last, and whether that is only that it would be too large.
    func add(_ answer: UnsafeRawBufferPointer) -> (reply: Bytes, isTooLarge: Bool)? {
        state.withLock { state in
            state.missing -= 1
            if state.text.count + answer.count + 2 > limit { state.isTooLarge = true }
            if !state.isTooLarge {
                state.text.append(UInt8(ascii: state.text.isEmpty ? "[" : ","))
                state.text.append(contentsOf: answer)
            }
            guard state.missing == 0 else { return nil }
            return (state.isTooLarge ? tooLarge() : close(&state.text), state.isTooLarge)
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
