// One value that is being encoded: what has been written of it, and where it stands. Frames lie in fixed memory, one
// for each level, and are used again and again; containers point at them.

typealias EncodingFramePointer = UnsafeMutablePointer<EncodingFrame>

struct EncodingFrame {
    enum Kind {
        case empty, object, array, scalar
    }

    let state: UnsafeMutablePointer<EncodingState>
    /// The level, counted from the outermost value.
    let index: Int

    /// Names the current use of the frame. What holds another number is from an earlier one.
    var serial: UInt = 0
    var kind = Kind.empty
    /// Opened by `nestedContainer` or `superEncoder`: it may be written to again after its surroundings went on.
    var isDetachable = false
    /// Goes on with a container whose brackets are written elsewhere.
    var isContinuation = false
    /// Where the value begins in the output.
    var start = 0
    /// How many containers are open, this frame's own included.
    var depth = 0
    /// Elements or members written.
    var count = 0
    var step = PathStep.none
    var storedKey: (any CodingKey)?
    var members = MemberList()
    var checksNames = true
    /// Not of this use alone.
    var known = KnownNames()

    var boxes: ContainerBoxes

    init(state: UnsafeMutablePointer<EncodingState>, index: Int, boxes: ContainerBoxes) {
        self.state = state
        self.index = index
        self.boxes = boxes
    }
}

extension EncodingFramePointer {
    @inline(__always)
    var output: UnsafeMutablePointer<OutputBuffer> { pointee.state.pointee.output }

    var codingPath: [any CodingKey] {
        let state = pointee.state
        return state.pointee.pathOutside
            + (0...pointee.index).compactMap { level in
                let frame = state.pointee.frames[level]
                return frame.pointee.storedKey
                    ?? frame.pointee.step.key(in: UnsafePointer(state.pointee.output.pointee.base), isQuoted: true)
            }
    }

    /// Asking an optional existential whether it is nil would copy it, so that is left to what goes with it.
    @inline(never)
    func forgetKey() {
        pointee.storedKey = nil
        pointee.isDetachable = false
    }

    // MARK: Opening

    /// Makes this value an object; more than one container may write to the same object.
    @inline(__always)
    func openObject() { open(.object, "{") }

    @inline(__always)
    func openArray() { open(.array, "[") }

    @inline(__always)
    private func open(_ kind: EncodingFrame.Kind, _ bracket: StaticString) {
        if pointee.kind == .empty {
            pointee.kind = kind
            pointee.depth &+= 1
            if pointee.depth > EncodingState.maximumDepth { failTooDeep() }
            output.pointee.append(bracket)
        } else if pointee.kind != kind {
            fail("Asked for containers of different kinds for one value.")
        }
    }

    @inline(never)
    private func failTooDeep() {
        guard pointee.state.pointee.failure == nil else { return }
        pointee.state.pointee.failure = EncodingState.tooDeep(at: codingPath, behind: output.pointee.count)
    }

    /// For what cannot throw: the next encoding call and the whole encoding fail.
    @inline(never)
    func fail(_ reason: String) {
        guard pointee.state.pointee.failure == nil else { return }
        pointee.state.pointee.failure = invalid("", reason)
    }

    @inline(never)
    func invalid(_ value: Any, _ reason: String, at key: (any CodingKey)? = nil) -> EncodingError {
        let path = codingPath + (key.map { [$0] } ?? [])
        return .invalidValue(value, EncodingError.Context(codingPath: path, debugDescription: reason))
    }

    // MARK: Writing

    /// What to return to when a member or element fails half written.
    struct Mark {
        let length: Int
        let edits: Int
    }

    @inline(__always)
    var mark: Mark { Mark(length: output.pointee.count, edits: pointee.state.pointee.edits.count) }

    /// Writes what stands before a member's value, and returns where the name lies.
    @inline(__always)
    @discardableResult
    func beginMember(_ name: String) -> Range<Int> {
        let output = output
        let number = pointee.count
        pointee.count = number &+ 1
        let target = output.pointee.reserve(1 &+ KnownName.longest)
        var place = output.pointee.count
        guard let known = pointee.known[number], known.pointee.bits == bitsOfName(name) else {
            return writeName(name, number)
        }
        // Written over where there is none.
        target.pointee = UInt8(ascii: ",")
        let comma = number > 0 ? 1 : 0
        known.pointee.write(to: target + comma)
        output.pointee.commit(comma &+ known.pointee.count)
        place &+= comma
        let end = place &+ known.pointee.count &- 2
        if pointee.checksNames { note(place, end, known.pointee.mark, isKnown: true) }
        return place &+ 1..<end
    }

    /// The same for a name that is not the one that was last written at this number.
    @inline(never)
    private func writeName(_ name: String, _ number: Int) -> Range<Int> {
        let output = output
        if number > 0 { output.pointee.append(UInt8(ascii: ",")) }
        let place = output.pointee.count
        output.pointee.append(quoted: name)
        let end = output.pointee.count &- 1
        output.pointee.append(UInt8(ascii: ":"))
        let text = UnsafePointer(output.pointee.base) + place
        let mark = markOfName(text + 1, end &- place &- 1)
        pointee.known.remember(
            name, at: number, UnsafeBufferPointer(start: text, count: end &+ 2 &- place), mark: mark)
        if pointee.checksNames { note(place, end, mark, isKnown: false) }
        return place &+ 1..<end
    }

    /// Takes note of a name that stands behind the quote at this place.
    @inline(__always)
    private func note(_ place: Int, _ end: Int, _ mark: UInt32, isKnown: Bool) {
        let member = Member(name: place &+ 1, length: end &- place &- 1, place: place, mark: mark)
        if isKnown, pointee.members.appendKnown(member) { return }
        guard let earlier = pointee.members.append(member, in: UnsafePointer(output.pointee.base)) else { return }
        // Written again: the later value stands, with everything up to the member that followed the earlier one.
        let cut = pointee.members[earlier].place..<pointee.members[earlier &+ 1].place
        pointee.state.pointee.edits.append(EncodingState.Edit(range: cut, replacement: nil))
    }

    @inline(__always)
    func beginElement() {
        if pointee.count > 0 { output.pointee.append(UInt8(ascii: ",")) }
        pointee.count &+= 1
    }

    /// Takes back the member or element begun at a mark.
    @inline(never)
    func takeBack(to mark: Mark) {
        pointee.state.takeBack(to: mark)
        pointee.count -= 1
        if pointee.kind == .object && pointee.checksNames {
            pointee.members.removeLast(in: UnsafePointer(output.pointee.base))
        }
    }

    /// The value is complete, or as complete as it gets before its surroundings go on.
    @inline(__always)
    func close() {
        guard !pointee.isContinuation else { return }
        switch pointee.kind {
        case .empty: output.pointee.append("{}")
        case .object: output.pointee.append(UInt8(ascii: "}"))
        case .array: output.pointee.append(UInt8(ascii: "]"))
        case .scalar: break
        }
    }
}
