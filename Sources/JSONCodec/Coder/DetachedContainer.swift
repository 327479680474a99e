// A nested container or super encoder may be written to after its surroundings went on. What comes late is written
// aside, and put in its place when the document is complete.

struct DetachedContainer {
    /// The numbers that its encoders and its keyed containers carry.
    let serial: UInt
    let boxSerial: UInt
    let kind: EncodingFrame.Kind
    /// Where late text goes: before the closing bracket, or in place of the empty object of an unused super encoder.
    let place: Range<Int>
    let hasContent: Bool
    let depth: Int
    let codingPath: [any CodingKey]
    var late: EncodingStatePointer?
}

extension EncodingFramePointer {
    /// The frame to write to for who holds this serial number, ready for the next piece of text.
    @inline(__always)
    func writable(_ serial: UInt, current: UInt) throws -> EncodingFramePointer {
        let state = pointee.state
        guard serial == current, pointee.serial != 0 else { return try state.lateFrame(serial) }
        if state.pointee.top != pointee.index { state.detach(above: pointee.index) }
        if let failure = state.pointee.failure { throw failure }
        return self
    }
}

extension EncodingStatePointer {
    /// Completes the frames above a level because their surroundings go on, but remembers where they could.
    @inline(never)
    func detach(above level: Int) {
        while pointee.top > level {
            let frame = pointee.frames[pointee.top]
            let before = pointee.output.pointee.count
            frame.close()
            if frame.pointee.isDetachable {
                let after = frame.pointee.kind == .empty ? pointee.output.pointee.count : before
                pointee.detached.append(
                    DetachedContainer(
                        serial: frame.pointee.serial, boxSerial: frame.pointee.boxes.serial,
                        kind: frame.pointee.kind, place: before..<after, hasContent: frame.pointee.count > 0,
                        depth: frame.pointee.depth, codingPath: frame.codingPath))
                // The next use of the frame must not be taken for this one.
                frame.pointee.boxes.renew(pointee.nextSerial())
            }
            end(downTo: pointee.top &- 1)
        }
    }

    /// The frame that continues a detached container.
    @inline(never)
    func lateFrame(_ serial: UInt) throws -> EncodingFramePointer {
        let found = pointee.detached.lastIndex { $0.serial == serial || $0.boxSerial == serial }
        // A container for which there was no place has no serial number; why there was none is known.
        guard serial != 0, let found else { throw pointee.failure ?? outlived() }
        let state = pointee.detached[found].late ?? makeLate(found)
        if let failure = state.pointee.failure { throw failure }
        let frame = state.pointee.frames[0]
        if state.pointee.top != 0 { state.detach(above: 0) }
        return frame
    }

    private func makeLate(_ number: Int) -> EncodingStatePointer {
        let container = pointee.detached[number]
        let output = UnsafeMutablePointer<OutputBuffer>.allocate(capacity: 1)
        output.initialize(to: OutputBuffer(capacity: 64))
        let state = EncodingState.take(writingTo: output)
        state.pointee.pathOutside = container.codingPath
        let frame = state.pushOutermost(depth: container.depth)
        frame.pointee.kind = container.kind
        frame.pointee.isContinuation = container.kind != .empty
        frame.pointee.count = container.hasContent ? 1 : 0
        // The names written before are out of sight.
        frame.pointee.checksNames = false
        pointee.detached[number].late = state
        pointee.edits.append(EncodingState.Edit(range: container.place, replacement: state))
        return state
    }

    private func outlived() -> any Error {
        EncodingError.invalidValue(
            "",
            EncodingError.Context(
                codingPath: pointee.pathOutside, debugDescription: "A container was used after its value was encoded."))
    }

    /// Takes back text and whatever was planned for it.
    func takeBack(to mark: EncodingFramePointer.Mark) {
        pointee.output.pointee.truncate(to: mark.length)
        while pointee.edits.count > mark.edits {
            pointee.edits.removeLast().replacement?.giveBackLate()
        }
        pointee.detached.removeAll { $0.place.lowerBound >= mark.length }
    }

    // MARK: Putting things in place

    /// Rewrites the output from an offset on with all edits made.
    @inline(never)
    func applyEdits(from start: Int) {
        let output = pointee.output
        let source = UnsafePointer(output.pointee.base)
        var edited = OutputBuffer(capacity: output.pointee.count &- start)
        var at = start
        for edit in pointee.edits.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
            // What lies in a member that was replaced is gone with it.
            if edit.range.lowerBound >= at {
                edited.append(UnsafeBufferPointer(start: source + at, count: edit.range.lowerBound &- at))
                if let late = edit.replacement { late.appendLate(to: &edited) }
                at = edit.range.upperBound
            }
            edit.replacement?.giveBackLate()
        }
        pointee.edits.removeAll()
        edited.append(UnsafeBufferPointer(start: source + at, count: output.pointee.count &- at))
        output.pointee.truncate(to: start)
        output.pointee.append(UnsafeBufferPointer(start: edited.base, count: edited.count))
        edited.deallocate()
    }

    private func appendLate(to edited: inout OutputBuffer) {
        close(above: 0)
        pointee.frames[0].close()
        if !pointee.edits.isEmpty { applyEdits(from: 0) }
        let text = pointee.output.pointee
        edited.append(UnsafeBufferPointer(start: text.base, count: text.count))
    }

    private func giveBackLate() {
        for edit in pointee.edits { edit.replacement?.giveBackLate() }
        pointee.output.pointee.deallocate()
        pointee.output.deallocate()
        giveBack()
    }
}
