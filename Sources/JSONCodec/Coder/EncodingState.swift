// One encoding at work: receives a value from `JSONOutput`, lets it write itself through the containers of the open
// frames, and leaves JSON in the output.

typealias EncodingStatePointer = UnsafeMutablePointer<EncodingState>

private let pool = StatePool()

struct EncodingState {
    static let maximumDepth = 512
    /// Values may wrap one another without a container between them; the stack bounds these as well.
    static let maximumFrames = 1024

    /// Something to be changed in the output when all is written: a member replaced, a container that went on late.
    struct Edit {
        let range: Range<Int>
        let replacement: EncodingStatePointer?
    }

    var output: UnsafeMutablePointer<OutputBuffer>
    let frames: UnsafeMutablePointer<EncodingFramePointer>
    private var madeFrames = 0
    /// The innermost open frame.
    var top = -1
    private var lastSerial: UInt = 0
    var failure: (any Error)?
    var edits: [Edit] = []
    var detached: [DetachedContainer] = []
    /// What leads to the outermost frame, where that is not the whole document.
    var pathOutside: [any CodingKey] = []
    var plans = TypeTable<EncodingPlan>()
    /// Where this memory goes back to.
    fileprivate var slot = 0

    private init(output: UnsafeMutablePointer<OutputBuffer>) {
        self.output = output
        frames = .allocate(capacity: Self.maximumFrames)
    }

    static func take(writingTo output: UnsafeMutablePointer<OutputBuffer>) -> EncodingStatePointer {
        let (state, slot) = pool.take {
            let made = EncodingStatePointer.allocate(capacity: 1)
            made.initialize(to: EncodingState(output: output))
            return made
        }
        state.pointee.output = output
        state.pointee.slot = slot
        return state
    }

    @inline(__always)
    mutating func nextSerial() -> UInt {
        lastSerial &+= 1
        return lastSerial
    }

    @inline(__always)
    mutating func frame(_ index: Int, of state: EncodingStatePointer) -> EncodingFramePointer {
        if index < madeFrames { return frames[index] }
        return makeFrame(index, of: state)
    }

    @inline(never)
    private mutating func makeFrame(_ index: Int, of state: EncodingStatePointer) -> EncodingFramePointer {
        let made = EncodingFramePointer.allocate(capacity: 1)
        made.initialize(to: EncodingFrame(state: state, index: index, boxes: ContainerBoxes(serial: nextSerial())))
        (frames + index).initialize(to: made)
        madeFrames = index + 1
        return made
    }
}

extension EncodingState {
    /// - Parameter count: how many bytes had been written.
    static func tooDeep(at path: [any CodingKey], behind count: Int) -> EncodingError {
        let reason = "Nested deeper than \(maximumDepth) levels (maximumDepth)."
        let cause = JSONError(offset: count, reason: .tooDeep(limit: maximumDepth))
        return .invalidValue(
            "", EncodingError.Context(codingPath: path, debugDescription: reason, underlyingError: cause))
    }

    /// A whole document. What is written when this throws is for the caller to remove.
    static func encode<Value: Encodable>(_ value: Value, into output: UnsafeMutablePointer<OutputBuffer>) throws {
        let state = take(writingTo: output)
        defer { state.giveBack() }
        let start = output.pointee.count
        try state.encode(value, .none, depth: 0)
        if let failure = state.pointee.failure { throw failure }
        if output.pointee.count == start {
            throw EncodingError.invalidValue(
                value,
                EncodingError.Context(
                    codingPath: [], debugDescription: "Top-level \(Value.self) did not encode any values."))
        }
        if !state.pointee.edits.isEmpty { state.applyEdits(from: start) }
    }
}

extension EncodingStatePointer {
    @inline(never)
    private func close() {
        pointee.failure = nil
        pointee.edits.removeAll()
        pointee.detached.removeAll()
        pointee.pathOutside.removeAll()
    }

    /// Ends the use of this memory; containers that still point into it find another serial number.
    @inline(__always)
    func giveBack() {
        if pointee.top >= 0 { end(downTo: -1) }
        if pointee.failure != nil || !pointee.edits.isEmpty || !pointee.detached.isEmpty
            || !pointee.pathOutside.isEmpty
        {
            close()
        }
        pool.giveBack(self, to: pointee.slot)
    }

    // MARK: Values

    /// Writes a value behind what is written. `depth` counts the containers around it.
    @inline(__always)
    func encode<Value: Encodable>(_ value: Value, _ step: PathStep, depth: Int) throws {
        let plan = pointee.plans.plan(for: Value.self) { EncodingPlan(Value.self) }
        // The plan was made for this very type.
        switch plan {
        case .ordinary: return try encodeNaturally(value, step, depth: depth)
        case .strings: if write(strings: unsafeBitCast(value, to: [String].self), depth) { return }
        case .integers: if write(integers: unsafeBitCast(value, to: [Int].self), depth) { return }
        case .doubles: if write(doubles: unsafeBitCast(value, to: [Double].self), depth) { return }
        case .direct, .foundation: break
        }
        try encode(value, by: plan, step, depth: depth)
    }

    @inline(never)
    private func encode<Value: Encodable>(_ value: Value, by plan: EncodingPlan, _ step: PathStep, depth: Int) throws {
        let frame = try push(step, depth: depth)
        let level = frame.pointee.index
        defer { end(downTo: level &- 1) }
        try plan.encode(value, in: frame)
    }

    /// By the type's own `encode(to:)`.
    @inline(__always)
    func encodeNaturally<Value: Encodable>(_ value: Value, _ step: PathStep, depth: Int) throws {
        let frame = try push(step, depth: depth)
        let level = frame.pointee.index
        do {
            try value.encode(to: ValueEncoder(frame: frame, serial: frame.pointee.serial))
        } catch {
            end(downTo: level &- 1)
            throw error
        }
        if pointee.top > level { close(above: level) }
        // A document of nothing is an error, a member of nothing an empty object.
        if frame.pointee.kind != .empty || level > 0 { frame.close() }
        end(downTo: level &- 1)
    }

    @inline(__always)
    func push(_ step: PathStep, depth: Int) throws -> EncodingFramePointer {
        let level = pointee.top &+ 1
        guard level < EncodingState.maximumFrames, depth <= EncodingState.maximumDepth else { throw tooDeep() }
        let frame = pointee.frame(level, of: self)
        pointee.top = level
        frame.pointee.serial = pointee.nextSerial()
        frame.pointee.kind = .empty
        if frame.pointee.isDetachable { frame.forgetKey() }
        frame.pointee.isContinuation = false
        frame.pointee.checksNames = true
        frame.pointee.start = pointee.output.pointee.count
        frame.pointee.depth = depth
        frame.pointee.count = 0
        frame.pointee.step = step
        return frame
    }

    /// The one frame of a continuation.
    func pushOutermost(depth: Int) -> EncodingFramePointer {
        let frame = pointee.frame(0, of: self)
        pointee.top = 0
        frame.pointee.serial = pointee.nextSerial()
        if frame.pointee.isDetachable { frame.forgetKey() }
        frame.pointee.depth = depth
        frame.pointee.step = .none
        return frame
    }

    @inline(never)
    private func tooDeep() -> any Error {
        let path = pointee.top >= 0 ? pointee.frames[pointee.top].codingPath : pointee.pathOutside
        return EncodingState.tooDeep(at: path, behind: pointee.output.pointee.count)
    }

    /// Ends the frames above a level without writing anything.
    @inline(__always)
    func end(downTo level: Int) {
        while pointee.top > level {
            let frame = pointee.frames[pointee.top]
            frame.pointee.serial = 0
            frame.pointee.boxes.endUse { pointee.nextSerial() }
            frame.pointee.members.removeAll()
            pointee.top &-= 1
        }
    }

    /// Completes the values above a level, since their surroundings are complete.
    func close(above level: Int) {
        var index = pointee.top
        while index > level {
            pointee.frames[index].close()
            index &-= 1
        }
        end(downTo: level)
    }
}
