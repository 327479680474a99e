// The state of one decoding. It gets a reader at a value, lets a type read that value through decoders and containers, and leaves
// the reader behind the value.

typealias DecodingStatePointer = UnsafeMutablePointer<DecodingState>

private let pool = StatePool<DecodingState>()

struct DecodingState {
    /// A type of the program may hold this many nested containers at once. A peer's text cannot make it hold more.
    fileprivate static let maximumFrames = 1 << 16

    var reader: JSONReader
    private(set) var context: CodingContext
    fileprivate var frames: [DecodingFramePointer] = []
    fileprivate var top = -1
    private var lastSerial: UInt = 0
    /// The first place where the text is not JSON, even if the type ignored that error.
    fileprivate var malformed: JSONError? { didSet { isMalformed = malformed != nil } }
    fileprivate var isMalformed = false
    var sawDuplicate = false
    /// Whether every object is read to its end before any of its members is decoded.
    fileprivate(set) var isCareful = false
    fileprivate var ends = ContainerEnds()
    fileprivate var unescapedNames: [UnsafeMutableBufferPointer<UInt8>] = []
    fileprivate var plans = TypeTable<CodingPlan<any DirectlyDecoded.Type>>()
    /// Holds an array on its way to the caller, while its static type changes from the known one to the caller's.
    fileprivate let array = UnsafeMutableRawPointer.allocate(
        byteCount: MemoryLayout<[Int]>.size, alignment: MemoryLayout<[Int]>.alignment)
    /// The slot of the pool that gets this memory back.
    fileprivate var slot = 0

    @inline(__always)
    static func take(_ reader: JSONReader, _ context: CodingContext) -> DecodingStatePointer {
        let (state, slot) = pool.take {
            let made = DecodingStatePointer.allocate(capacity: 1)
            made.initialize(to: DecodingState(reader: reader, context: context))
            return made
        }
        state.pointee.reader = reader
        state.pointee.slot = slot
        state.pointee.context = context
        return state
    }

    @inline(__always)
    fileprivate mutating func nextSerial() -> UInt {
        lastSerial &+= 1
        return lastSerial
    }
}

extension DecodingStatePointer {
    /// Decodes the value at the reader's cursor.
    ///
    /// The first attempt takes each member as soon as it is found. Its result does not count if it fails, or if an object has
    /// two members of one name. The second attempt then checks the whole text first, and takes the last of duplicates.
    @inline(__always)
    func decodeDocument<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let (start, depth) = (pointee.reader.position, pointee.reader.depth)
        do {
            let value = try decode(type, in: nil, .none)
            if !pointee.sawDuplicate && !pointee.isMalformed { return value }
        } catch {}
        return try decodeCarefully(type, from: start, depth)
    }

    @inline(never)
    private func decodeCarefully<Value: Decodable>(_ type: Value.Type, from start: Int, _ depth: Int) throws -> Value {
        if let malformed = pointee.malformed { throw DecodingError.malformed(malformed) }
        reset()
        pointee.isCareful = true
        seek(start, depth: depth)
        try skipValue(remembering: true)
        seek(start, depth: depth)
        return try decode(type, in: nil, .none)
    }

    /// Ends the use of this memory. Containers that still point into it find another serial number.
    @inline(__always)
    func giveBack() {
        reset()
        pool.giveBack(self, to: pointee.slot)
    }

    @inline(__always)
    private func reset() {
        if pointee.top >= 0 { end(downTo: -1) }
        if pointee.isMalformed { pointee.malformed = nil }
        pointee.sawDuplicate = false
        pointee.isCareful = false
        pointee.ends.removeAll()
        if !pointee.unescapedNames.isEmpty { forgetNames() }
    }

    // MARK: Values

    /// Decodes the value at the reader's cursor, which is moved behind it.
    @inline(__always)
    func decode<Value: Decodable>(
        _ type: Value.Type, in parent: DecodingFramePointer?, _ step: PathStep
    ) throws -> Value {
        let plan = pointee.plans.value(for: type) { Self.plan(for: type) }
        if case .ordinary = plan { return try decodeNaturally(type, in: parent, step) }
        if case .tokens(let token, _) = plan, token.readArray(&pointee.reader, into: pointee.array) {
            // Safe: the array was made as a `Value`, since the plan was made for that type.
            return pointee.array.assumingMemoryBound(to: Value.self).move()
        }
        return try decode(type, by: plan, in: parent, step)
    }

    @inline(never)
    private static func plan(for type: any Decodable.Type) -> CodingPlan<any DirectlyDecoded.Type> {
        if let known = FoundationType(type) { return .foundation(known) }
        guard let direct = type as? any DirectlyDecoded.Type else { return .ordinary }
        return direct.element.map { .tokens($0, direct) } ?? .direct(direct)
    }

    @inline(never)
    private func decode<Value: Decodable>(
        _ type: Value.Type, by plan: CodingPlan<any DirectlyDecoded.Type>, in parent: DecodingFramePointer?,
        _ step: PathStep
    ) throws -> Value {
        let frame = try push(in: parent, step)
        let level = frame.pointee.index
        defer { end(downTo: level &- 1) }
        switch plan {
        case .ordinary: return try decodeNaturally(type, in: frame, .none)
        case .tokens(_, let known), .direct(let known): return try Self.read(type, as: known, in: frame)
        case .foundation(let known): return try decodeFoundationValue(type, as: known, in: frame)
        }
    }

    private static func read<Value, Known: DirectlyDecoded>(
        _ type: Value.Type, as known: Known.Type, in frame: DecodingFramePointer
    ) throws -> Value {
        // Safe: `Known` and `Value` are the same type, since the plan was made for it.
        let value = try Known.decodeDirectly(in: frame)
        return withUnsafePointer(to: value) { place in
            UnsafeRawPointer(place).assumingMemoryBound(to: Value.self).pointee
        }
    }

    /// Decodes with the type's own `init(from:)`.
    @inline(__always)
    func decodeNaturally<Value: Decodable>(
        _ type: Value.Type, in parent: DecodingFramePointer?, _ step: PathStep
    ) throws -> Value {
        let frame = try push(in: parent, step)
        let level = frame.pointee.index
        do {
            let value = try Value(from: ValueDecoder(frame: frame, serial: frame.pointee.serial))
            try finish(downTo: level)
            return value
        } catch {
            end(downTo: level &- 1)
            throw error
        }
    }

    /// Completes the frames of this level and all above it. Leaves the reader behind the value of this level.
    @inline(__always)
    private func finish(downTo level: Int) throws {
        while pointee.top > level { try finishTop() }
        let frame = pointee.frames[level]
        try frame.finish()
        if let end = frame.pointee.end { seek(end, depth: frame.pointee.depth) }
        end(downTo: level &- 1)
    }

    /// Completes the topmost frame, so that the value around it need not read its text again.
    @inline(never)
    private func finishTop() throws {
        let frame = pointee.frames[pointee.top]
        try frame.finish()
        if let parent = frame.pointee.parent, parent.pointee.isAtValue, let end = frame.pointee.end,
            parent.pointee.cursor <= frame.pointee.start, frame.pointee.start == firstByte(from: parent.pointee.cursor)
        {
            parent.pointee.cursor = end
            parent.pointee.isAtValue = false
        }
        end(downTo: pointee.top &- 1)
    }

    private func firstByte(from offset: Int) -> Int {
        var reader = pointee.reader
        reader.position = offset
        reader.skipWhiteSpace()
        return reader.position
    }

    // MARK: Frames

    @inline(__always)
    private func push(in parent: DecodingFramePointer?, _ step: PathStep) throws -> DecodingFramePointer {
        let level = pointee.top &+ 1
        if level >= pointee.frames.count { try makeFrame(level) }
        pointee.top = level
        let frame = pointee.frames[level]
        frame.pointee.serial = pointee.nextSerial()
        frame.pointee.kind = .unopened
        frame.pointee.isMissing = false
        frame.pointee.isLoose = false
        if frame.pointee.isNested { frame.forgetKey() }
        frame.pointee.parent = parent
        frame.pointee.step = step
        if frame.pointee.path != nil { frame.pointee.path = nil }
        pointee.reader.skipWhiteSpace()
        frame.pointee.start = pointee.reader.position
        frame.pointee.end = nil
        frame.pointee.depth = pointee.reader.depth
        return frame
    }

    /// Adds a frame that the user's code may keep. Nested frames that are no longer in use are removed first.
    func pushNested(in parent: DecodingFramePointer, _ key: any CodingKey) throws -> DecodingFramePointer {
        let place = pointee.reader
        while pointee.top >= 0 {
            let frame = pointee.frames[pointee.top]
            guard frame != parent, frame.pointee.isNested, frame.isUnused else { break }
            try finishTop()
        }
        pointee.reader = place
        let frame = try push(in: parent, .none)
        frame.pointee.isNested = true
        frame.pointee.storedKey = key
        return frame
    }

    @inline(never)
    private func makeFrame(_ level: Int) throws {
        guard level < DecodingState.maximumFrames else {
            let text = "More than \(DecodingState.maximumFrames) nested containers are in use at once."
            throw DecodingError.dataCorrupted(DecodingError.Context(codingPath: [], debugDescription: text))
        }
        let made = DecodingFramePointer.allocate(capacity: 1)
        made.initialize(to: DecodingFrame(state: self, index: level, serial: pointee.nextSerial()))
        pointee.frames.append(made)
    }

    @inline(__always)
    private func end(downTo level: Int) {
        while pointee.top > level {
            let frame = pointee.frames[pointee.top]
            frame.pointee.serial = 0
            frame.pointee.kept.endUse { pointee.nextSerial() }
            frame.pointee.members.removeAll()
            pointee.top &-= 1
        }
    }

    // MARK: Text

    /// Reads at the cursor. If the text is not JSON, the whole decoding fails, even if the type ignores this error.
    @inline(__always)
    func read<Result>(_ body: (inout JSONReader) throws(JSONError) -> Result) throws -> Result {
        do throws(JSONError) { return try body(&pointee.reader) } catch { throw malformed(error) }
    }

    @inline(never)
    private func malformed(_ error: JSONError) -> DecodingError {
        let first = pointee.malformed ?? error
        pointee.malformed = first
        return DecodingError.malformed(first)
    }

    @inline(__always)
    func seek(_ offset: Int, depth: Int) {
        pointee.reader.position = offset
        pointee.reader.depth = depth
        pointee.reader.isFirst = false
    }

    @inline(__always)
    func skipValue(remembering: Bool) throws {
        try read { reader throws(JSONError) in
            let kind = try reader.peek()
            switch kind {
            case .object, .array: try pointee.ends.skip(&reader, remembering: remembering)
            default: try reader.skipScalar(kind)
            }
        }
    }

    /// Stores a name without its escapes until the decoding ends. Returns its distance from the text, and its length. Refuses a
    /// name that is costly to compare, since keys and dictionaries are made from names.
    @inline(__always)
    func place(of key: JSONKey, in frame: DecodingFramePointer) throws -> (Int, Int) {
        guard key.hasEscapes || !key.text.isASCII else { return (key.text.start, key.length) }
        return try checkedPlace(of: key, in: frame)
    }

    @inline(never)
    private func checkedPlace(of key: JSONKey, in frame: DecodingFramePointer) throws -> (Int, Int) {
        let text = key.text.string(in: key.base)
        try frame.check(text)
        guard key.hasEscapes else { return (key.text.start, key.length) }
        let name = Array(text.utf8)
        let kept = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(name.count, 1))
        _ = kept.initialize(from: name)
        pointee.unescapedNames.append(kept)
        let address = kept.baseAddress.map { Int(bitPattern: $0) } ?? 0
        return (address &- Int(bitPattern: key.base), name.count)
    }

    private func forgetNames() {
        for name in pointee.unescapedNames { name.deallocate() }
        pointee.unescapedNames.removeAll()
    }
}
