// The state of one encoding. It gets a value from `JSONOutput`, lets the value write itself through the containers of the open
// frames, and leaves JSON in the output.

typealias EncodingStatePointer = UnsafeMutablePointer<EncodingState>

private let pool = StatePool<EncodingState>()

struct EncodingState {
    static let maximumDepth = 512
    /// Limits values that wrap one another without a container in between. The stack limits these as well.
    static let maximumFrames = 1024

    fileprivate var output: UnsafeMutablePointer<OutputBuffer>
    /// The frames of the open values, the outermost first.
    fileprivate var frames: [EncodingFramePointer] = []
    fileprivate var top = -1
    /// Unused frames for nested containers. Each has an output of its own.
    fileprivate var spare: [EncodingFramePointer] = []
    private var lastSerial: UInt = 0
    private(set) var context: CodingContext
    /// The first failure in a function that cannot throw.
    var failure: (any Error)?
    fileprivate var plans = TypeTable<CodingPlan<any DirectlyEncoded.Type>>()
    /// The slot of the pool that gets this memory back.
    fileprivate var slot = 0

    /// Writes a whole document. If this throws, the caller has to remove what was written.
    static func encode<Value: Encodable>(
        _ value: Value, into output: UnsafeMutablePointer<OutputBuffer>, _ context: CodingContext
    ) throws {
        let (state, slot) = pool.take {
            let made = EncodingStatePointer.allocate(capacity: 1)
            made.initialize(to: EncodingState(output: output, context: context))
            return made
        }
        state.pointee.output = output
        state.pointee.slot = slot
        state.pointee.context = context
        defer { state.giveBack() }
        let start = output.pointee.count
        try state.encode(value, in: nil, .none)
        if let failure = state.pointee.failure { throw failure }
        if output.pointee.count == start {
            let text = "Top-level \(Value.self) did not encode any values."
            throw EncodingError.invalidValue(value, EncodingError.Context(codingPath: [], debugDescription: text))
        }
    }

    @inline(__always)
    mutating func nextSerial() -> UInt {
        lastSerial &+= 1
        return lastSerial
    }
}

extension EncodingStatePointer {
    @inline(__always)
    fileprivate func giveBack() {
        if pointee.failure != nil { pointee.failure = nil }
        pool.giveBack(self, to: pointee.slot)
    }

    // MARK: Values

    /// Writes a value behind the written part of the value around it.
    @inline(__always)
    func encode<Value: Encodable>(_ value: Value, in parent: EncodingFramePointer?, _ step: PathStep) throws {
        let plan = pointee.plans.value(for: Value.self) { Self.plan(for: Value.self) }
        if case .ordinary = plan { return try encodeNaturally(value, in: parent, step) }
        if case .tokens(let token, _) = plan {
            // Safe: the plan was made for the type of this value.
            if withUnsafePointer(to: value, { write(arrayAt: $0, of: token, in: parent) }) { return }
        }
        try encode(value, by: plan, in: parent, step)
    }

    @inline(never)
    private static func plan(for type: any Encodable.Type) -> CodingPlan<any DirectlyEncoded.Type> {
        if let known = FoundationType(type) { return .foundation(known) }
        guard let direct = type as? any DirectlyEncoded.Type else { return .ordinary }
        return direct.element.map { .tokens($0, direct) } ?? .direct(direct)
    }

    /// Returns false, with nothing written, if the array cannot be written this way.
    @inline(never)
    private func write(
        arrayAt place: UnsafeRawPointer, of token: any JSONPrimitive.Type, in parent: EncodingFramePointer?
    ) -> Bool {
        let output = parent?.pointee.output ?? pointee.output
        return (parent?.pointee.depth ?? 0) < EncodingState.maximumDepth
            && token.write(arrayAt: place, to: &output.pointee)
    }

    @inline(never)
    private func encode<Value: Encodable>(
        _ value: Value, by plan: CodingPlan<any DirectlyEncoded.Type>, in parent: EncodingFramePointer?,
        _ step: PathStep
    ) throws {
        let frame = try push(in: parent, step)
        defer { pop(frame) }
        switch plan {
        case .ordinary: break
        case .tokens(_, let known), .direct(let known): try Self.write(value, as: known, in: frame)
        case .foundation(let known): try encodeFoundationValue(value, as: known, in: frame)
        }
    }

    private static func write<Value, Known: DirectlyEncoded>(
        _ value: Value, as type: Known.Type, in frame: EncodingFramePointer
    ) throws {
        // Safe: `Known` and `Value` are the same type, since the plan was made for it.
        try withUnsafePointer(to: value) { place in
            try UnsafeRawPointer(place).assumingMemoryBound(to: Known.self).pointee.encodeDirectly(in: frame)
        }
    }

    /// Encodes with the type's own `encode(to:)`.
    @inline(__always)
    func encodeNaturally<Value: Encodable>(_ value: Value, in parent: EncodingFramePointer?, _ step: PathStep) throws {
        let frame = try push(in: parent, step)
        do {
            try value.encode(to: ValueEncoder(frame: frame, serial: frame.pointee.serial))
        } catch {
            pop(frame)
            throw error
        }
        // A document whose value writes nothing is an error. A member whose value writes nothing is an empty object.
        if frame.pointee.kind != .empty || parent != nil { frame.close() }
        pop(frame)
    }

    // MARK: Frames

    @inline(__always)
    private func push(in parent: EncodingFramePointer?, _ step: PathStep) throws -> EncodingFramePointer {
        let level = pointee.top &+ 1
        if level >= pointee.frames.count { try addFrame(in: parent) }
        let frame = pointee.frames[level]
        frame.begin(in: parent, step, parent?.pointee.output ?? pointee.output)
        guard frame.pointee.depth <= EncodingState.maximumDepth else { throw frame.tooDeep() }
        pointee.top = level
        return frame
    }

    @inline(__always)
    private func pop(_ frame: EncodingFramePointer) {
        frame.end()
        pointee.top &-= 1
    }

    @inline(never)
    private func addFrame(in parent: EncodingFramePointer?) throws {
        if pointee.frames.count == EncodingState.maximumFrames, let parent { throw parent.tooDeep() }
        pointee.frames.append(makeFrame(pointee.output))
    }

    private func makeFrame(_ output: UnsafeMutablePointer<OutputBuffer>) -> EncodingFramePointer {
        let made = EncodingFramePointer.allocate(capacity: 1)
        made.initialize(
            to: EncodingFrame(state: self, output: output, kept: KeptContainers(serial: pointee.nextSerial())))
        return made
    }

    /// Returns a frame with an output of its own.
    func nestedFrame() -> EncodingFramePointer {
        if let frame = pointee.spare.popLast() { return frame }
        let output = UnsafeMutablePointer<OutputBuffer>.allocate(capacity: 1)
        output.initialize(to: OutputBuffer(capacity: 256))
        return makeFrame(output)
    }

    func giveBack(nested frame: EncodingFramePointer) {
        frame.end()
        frame.pointee.storedKey = nil
        frame.pointee.output.pointee.truncate(to: 0)
        frame.pointee.output.pointee.letGoOfMuch()
        pointee.spare.append(frame)
    }
}
