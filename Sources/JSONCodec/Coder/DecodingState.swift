// One decoding at work: receives a reader that stands at a value, lets a type read that value through decoders and
// containers, and leaves the reader behind it.

typealias DecodingStatePointer = UnsafeMutablePointer<DecodingState>

private let pool = StatePool()

struct DecodingState {
    /// Nested containers that a type holds at once are its own affair; what a peer's text can make of them is not.
    fileprivate static let maximumFrames = 1 << 16

    var reader: JSONReader
    fileprivate var frames: [DecodingFramePointer] = []
    fileprivate var top = -1
    private var lastSerial: UInt = 0
    /// The first place where the text was found not to be JSON, whether or not the type cared.
    var malformed: JSONError? { didSet { isMalformed = malformed != nil } }
    private(set) var isMalformed = false
    var sawDuplicate = false
    /// Every object is read to its end before any of its members is decoded.
    fileprivate(set) var isCareful = false
    var ends = ContainerEnds()
    fileprivate var unescapedNames: [UnsafeMutableBufferPointer<UInt8>] = []
    var plans = TypeTable<DecodingPlan>()
    /// A place for an array on its way out, where it changes from the type that is known here to the caller's.
    fileprivate let array = UnsafeMutableRawPointer.allocate(
        byteCount: MemoryLayout<[Int]>.size, alignment: MemoryLayout<[Int]>.alignment)
    /// Where this memory goes back to.
    fileprivate var slot = 0

    @inline(__always)
    static func take(_ reader: JSONReader) -> DecodingStatePointer {
        let (state, slot) = pool.take {
            let made = DecodingStatePointer.allocate(capacity: 1)
            made.initialize(to: DecodingState(reader: reader))
            return made
        }
        state.pointee.reader = reader
        state.pointee.slot = slot
        return state
    }

    @inline(__always)
    mutating func nextSerial() -> UInt {
        lastSerial &+= 1
        return lastSerial
    }
}

extension DecodingStatePointer {
    /// Decodes the value at the reader's cursor.
    ///
    /// The first attempt takes each member where it meets it. Should that fail, or an object turn out to have two members
    /// of one name, its result does not count: a second attempt checks the whole text first and takes the last of
    /// duplicates.
    @inline(__always)
    func decodeDocument<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let start = pointee.reader.position
        let depth = pointee.reader.depth
        do {
            let value = try decode(type, in: nil, .none)
            if !pointee.sawDuplicate && !pointee.isMalformed { return value }
        } catch {}
        return try decodeCarefully(type, from: start, depth)
    }

    @inline(never)
    private func decodeCarefully<Value: Decodable>(_ type: Value.Type, from start: Int, _ depth: Int) throws -> Value {
        if let malformed = pointee.malformed { throw self.malformed(malformed) }
        reset()
        pointee.isCareful = true
        seek(start, depth: depth)
        do throws(JSONError) { try skipValue(remembering: true) } catch { throw malformed(error) }
        seek(start, depth: depth)
        return try decode(type, in: nil, .none)
    }

    /// Ends the use of this memory; containers that still point into it find another serial number.
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
        let plan = pointee.plans.plan(for: type) { DecodingPlan(type) }
        switch plan {
        case .ordinary: return try decodeNaturally(type, in: parent, step)
        case .strings: if readStrings() { return takeArray(as: type) }
        case .integers: if readIntegers() { return takeArray(as: type) }
        case .doubles: if readDoubles() { return takeArray(as: type) }
        case .direct, .foundation: break
        }
        return try decode(type, by: plan, in: parent, step)
    }

    // MARK: Arrays of tokens

    @inline(never) private func readStrings() -> Bool { putArray(pointee.reader.tokenArray(of: String.self)) }
    @inline(never) private func readIntegers() -> Bool { putArray(pointee.reader.tokenArray(of: Int.self)) }
    @inline(never) private func readDoubles() -> Bool { putArray(pointee.reader.tokenArray(of: Double.self)) }

    @inline(__always)
    private func putArray<Element>(_ array: consuming [Element]?) -> Bool {
        guard let array else { return false }
        pointee.array.initializeMemory(as: [Element].self, to: array)
        return true
    }

    /// The array that was read last. The plan was made for this very type.
    @inline(__always)
    private func takeArray<Value>(as type: Value.Type) -> Value {
        pointee.array.assumingMemoryBound(to: Value.self).move()
    }

    // MARK: Other values

    @inline(never)
    private func decode<Value: Decodable>(
        _ type: Value.Type, by plan: DecodingPlan, in parent: DecodingFramePointer?, _ step: PathStep
    ) throws -> Value {
        let frame = try push(in: parent, step)
        let level = frame.pointee.index
        defer { end(downTo: level &- 1) }
        return try plan.decode(type, in: frame)
    }

    /// By the type's own `init(from:)`.
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

    /// Completes the frames of a level and above, and leaves the reader behind the value of that level.
    @inline(__always)
    private func finish(downTo level: Int) throws {
        while pointee.top > level { try finishTop() }
        let frame = pointee.frames[level]
        do throws(JSONError) { try frame.finish() } catch { throw malformed(error) }
        if let end = frame.pointee.end { seek(end, depth: frame.pointee.depth) }
        end(downTo: level &- 1)
    }

    /// Completes the topmost frame; what contains it need not read its text again.
    @inline(never)
    func finishTop() throws {
        let frame = pointee.frames[pointee.top]
        do throws(JSONError) { try frame.finish() } catch { throw malformed(error) }
        if let parent = frame.pointee.parent, parent.pointee.isAtValue, let end = frame.pointee.end,
            parent.pointee.cursor <= frame.pointee.start,
            parent.pointee.members.count > 0,
            parent.pointee.members[parent.pointee.members.count &- 1].place == parent.pointee.cursor,
            frame.pointee.start == firstByte(from: parent.pointee.cursor)
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
    func push(in parent: DecodingFramePointer?, _ step: PathStep) throws -> DecodingFramePointer {
        let frame = try nextFrame()
        frame.pointee.serial = pointee.nextSerial()
        frame.pointee.kind = .unopened
        frame.pointee.isMissing = false
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

    /// A frame that stays in the user's hands. Those that nobody holds any more make room first.
    func pushNested(in parent: DecodingFramePointer, _ key: any CodingKey) throws -> DecodingFramePointer {
        let place = pointee.reader
        while pointee.top >= 0 {
            let frame = pointee.frames[pointee.top]
            guard frame != parent, frame.pointee.isNested, !frame.pointee.isLoose, frame.pointee.boxes.areUnused
            else { break }
            try finishTop()
        }
        pointee.reader = place
        let frame = try push(in: parent, .none)
        frame.pointee.isNested = true
        frame.pointee.storedKey = key
        return frame
    }

    @inline(__always)
    private func nextFrame() throws -> DecodingFramePointer {
        let level = pointee.top &+ 1
        if level >= pointee.frames.count { try makeFrame(level) }
        pointee.top = level
        return pointee.frames[level]
    }

    @inline(never)
    private func makeFrame(_ level: Int) throws {
        guard level < DecodingState.maximumFrames else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: [],
                    debugDescription: "More than \(DecodingState.maximumFrames) nested containers are in use at once."))
        }
        let made = DecodingFramePointer.allocate(capacity: 1)
        made.initialize(
            to: DecodingFrame(state: self, index: level, boxes: ContainerBoxes(serial: pointee.nextSerial())))
        pointee.frames.append(made)
    }

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

    // MARK: Text

    @inline(__always)
    func seek(_ offset: Int, depth: Int) {
        pointee.reader.position = offset
        pointee.reader.depth = depth
        pointee.reader.isFirst = false
    }

    @inline(__always)
    func skipValue(remembering: Bool) throws(JSONError) {
        let kind = try pointee.reader.peek()
        switch kind {
        case .object, .array: try pointee.ends.skip(&pointee.reader, remembering: remembering)
        default: try pointee.reader.skipScalar(kind)
        }
    }

    /// A name without its escapes, kept until the decoding ends: its distance from the text, and its length.
    @inline(never)
    func unescapedName(_ key: JSONKey) -> (Int, Int) {
        let name = Array(key.text.string(in: key.base).utf8)
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
