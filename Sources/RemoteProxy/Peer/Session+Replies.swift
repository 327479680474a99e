// How answers leave: alone or with their batch, over the connection that serves the session now, and kept until the other end
// has acknowledged them. On the loop.

import JSONCodec
import RPCWire

extension Session {
    /// Answers without running anything. Notifications are never answered; that one was refused is told to the log.
    func answer(_ id: RPCIdentifier?, with error: ErrorObject, in batch: BatchReply?) {
        guard let id else { return peer.log("refused a post from \(address): \(error.message)") }
        let output = JSONOutput()
        MessageEncoder.writeFailure(id: id, error: error, in: output)
        send(output.bytes, to: id, in: batch, over: connection, hasBegun: false)
    }

    func answer(_ id: RPCIdentifier?, in batch: BatchReply?, result write: (JSONOutput) -> Void) {
        guard let id else { return }
        let output = JSONOutput()
        MessageEncoder.openResult(id: id, in: output)
        write(output)
        MessageEncoder.closeResult(in: output)
        send(output.bytes, to: id, in: batch, over: connection, hasBegun: false)
    }

    /// Sends one answer, alone or as part of its batch, over the connection that serves the session now. If there is
    /// none the answer goes out over the next.
    /// - Parameters:
    ///   - isLast: the calling code does nothing more in this turn.
    ///   - hasBegun: whether it is what became of a call that has begun.
    func send(
        _ answer: UnsafeRawBufferPointer, to id: RPCIdentifier, in batch: BatchReply?, over connection: Connection?,
        isLast: Bool = false, hasBegun: Bool = true
    ) {
        guard connection?.mayAnswer(answer.count) != false else { return }
        if let batch {
            // It would be kept for nobody, and after the end of the session nobody would let go of it.
            guard connection != nil else { return }
            let collected = batch.add(answer)
            batchesKeep(collected.change)
            guard let reply = collected.reply else { return }
            if collected.isTooLarge { overran(.maximumFrameSize) }
            reply.withUnsafeBytes { reply in
                // Then it is a single answer and no batch, and counts as one at the other end.
                if collected.isTooLarge, isResumable { keep(reply, to: .null) }
                connection?.send(reply, isLast: isLast)
            }
        } else {
            if isResumable { if hasBegun { keep(answer, to: id) } else { keepOther(answer) } }
            connection?.send(answer, isLast: isLast)
        }
    }

    /// The same for a large one. If it fills the memory that it was written in, that is what is kept, and what is sent.
    func sendLarge(_ output: JSONOutput, to id: RPCIdentifier, in batch: BatchReply?, over connection: Connection?) {
        guard batch == nil, let answer = Bytes(takingLarge: output) else {
            send(output.bytes, to: id, in: batch, over: connection)
            // What was large is for others until this worker has something large to say again.
            return output.removeAll()
        }
        guard connection?.mayAnswer(answer.count) != false else { return }
        if isResumable { keep(answer.memory, as: answer, to: id) }
        connection?.send(shared: answer)
    }

    /// - Parameter shared: the same, if it lies in memory of its own: then it is not copied.
    @inline(__always)
    private func keep(_ answer: UnsafeRawBufferPointer, as shared: Bytes? = nil, to id: RPCIdentifier) {
        if let limit = overrun(keeping: answer.count) {
            keepNothing(of: id, because: limit)
        } else if let shared {
            replies.keep(shared: shared, number: replies.last + 1)
        } else {
            replies.keep(answer, number: replies.last + 1, deadline: .distantFuture)
        }
        noteReplies()
    }

    @inline(never)
    private func keepNothing(of id: RPCIdentifier, because limit: Limit) {
        overran(limit)
        // It had begun before there was too much. If the answer does not get through, at least what became of the call
        // does.
        let bytes =
            limit == .maximumKeptReplyBytesInAll
            ? table?.maximumKeptReplyBytes : peer.settings.limits.maximumKeptReplyBytes
        let output = JSONOutput()
        MessageEncoder.writeFailure(id: id, error: .notKept(limit, of: bytes), in: output)
        replies.keep(output.bytes, number: replies.last + 1)
    }

    /// Nothing holds up what need not begin, and so a peer that acknowledges nothing could have any number of such answers kept:
    /// it loses its way back.
    @inline(never)
    private func keepOther(_ answer: UnsafeRawBufferPointer) {
        replies.keep(answer, number: replies.last + 1)
        noteReplies()
        guard let limit = overrunByOthers else { return }
        overran(limit)
        let what = "\(replies.count) answers were not acknowledged (\(limit))"
        peer.log("the session of \(address) ends with its connection: \(what)")
        endWithConnection()
    }

    private var overrunByOthers: Limit? {
        let kept = replies.byteCountOfSmall
        guard kept >= 16 * Self.little else { return nil }
        if kept / 2 >= peer.settings.limits.maximumKeptReplyBytes { return .maximumKeptReplyBytes }
        return table?.keepsTooMuch == true ? .maximumKeptReplyBytesInAll : nil
    }

    /// What stands against keeping one more answer, of this length. A single one may be as long as an answer can be.
    @inline(__always)
    private func overrun(keeping count: Int) -> Limit? {
        let kept = replies.byteCount
        if kept >= peer.settings.limits.maximumKeptReplyBytes { return .maximumKeptReplyBytes }
        return kept + count >= Self.little && table?.keepsTooMuch == true
            ? .maximumKeptReplyBytesInAll : nil
    }

    /// What each session may keep, however much the others do.
    private static var little: Int { 4_096 }

    /// While so many answers are kept no call begins: they go on when some have been acknowledged. Where others keep too
    /// much, this one may still keep little.
    @inline(__always)
    var overrunByReplies: Limit? {
        guard isResumable, !replies.isEmpty else { return nil }
        let kept = replies.byteCount
        if kept >= peer.settings.limits.maximumKeptReplyBytes { return .maximumKeptReplyBytes }
        if kept >= Self.little, table?.keepsTooMuch == true { return .maximumKeptReplyBytesInAll }
        return replies.count >= peer.settings.limits.maximumKeptReplies ? .maximumKeptReplies : nil
    }

    /// The other end has so many answers.
    func acknowledged(replies number: Int64) {
        replies.release(through: number)
        noteReplies()
        releaseHeldBack()
        // What was kept since it said so it would tell in its own time, and may never have a reason to.
        if !heldBack.isEmpty, !replies.isEmpty { connection?.channel.notify(SystemMethod.report) }
    }

    /// The other end may think that it has time: it is asked.
    func holdBack(_ request: consuming IncomingRequest, _ limit: Limit) {
        overran(limit)
        if heldBack.isEmpty { connection?.channel.notify(SystemMethod.report) }
        var request = request
        request.waitsForLong()
        heldBack.append(request)
    }

    func releaseHeldBack() {
        while overrunByReplies == nil, var request = heldBack.popFirst() {
            request.arrived = loop.now
            begin(request)
        }
    }
}
