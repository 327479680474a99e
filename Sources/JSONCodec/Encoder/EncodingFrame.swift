// One value that is being encoded: what has been written of it, and where it is. Frames have fixed addresses and are reused;
// encoders and containers point at them.

typealias EncodingFramePointer = UnsafeMutablePointer<EncodingFrame>

struct EncodingFrame {
    enum Kind {
        case empty, object, array, scalar
    }

    let state: EncodingStatePointer

    /// Identifies the present use of the frame. A container with another number belongs to an earlier use.
    var serial: UInt = 0
    var kind = Kind.empty
    /// Whether one of its elements or members is being written.
    var isBusy = false
    var parent: EncodingFramePointer?
    var output: UnsafeMutablePointer<OutputBuffer>
    /// Where the value begins in the output.
    var start = 0
    /// How many containers are open, this frame's own included.
    var depth = 0
    /// How many elements or members have been written.
    var count = 0
    var step = PathStep.none
    /// The key of a nested container, which has no step.
    var storedKey: (any CodingKey)?
    /// Containers and super encoders whose texts are inserted when this value is complete. Until then a single byte marks the
    /// place of each. The place is negative if the member was written again.
    var nested: [(place: Int, frame: EncodingFramePointer)] = []

    /// The number of the name that is expected next, and which of the known names may have been written.
    var nextName = 0
    var written: UInt64 = 0
    /// Names that may have been written and are not among the known ones.
    var otherNames: Set<String> = []
    /// Whether a name was written that may have been written before.
    var isRepeated = false
    var kept: KeptContainers
}

extension EncodingFramePointer {
    var codingPath: [any CodingKey] {
        var path: [any CodingKey] = []
        var level: EncodingFramePointer? = self
        while let frame = level {
            let base = UnsafePointer(frame.pointee.output.pointee.base)
            if let key = frame.pointee.storedKey ?? frame.pointee.step.key(in: base, isQuoted: true) {
                path.append(key)
            }
            level = frame.pointee.parent
        }
        return path.reversed()
    }

    /// Begins a use of the frame.
    @inline(__always)
    func begin(in parent: EncodingFramePointer?, _ step: PathStep, _ output: UnsafeMutablePointer<OutputBuffer>) {
        pointee.serial = pointee.state.pointee.nextSerial()
        pointee.kind = .empty
        pointee.isBusy = false
        pointee.parent = parent
        pointee.output = output
        pointee.start = output.pointee.count
        pointee.depth = parent?.pointee.depth ?? 0
        pointee.count = 0
        pointee.step = step
        pointee.nextName = 0
        pointee.written = 0
        pointee.isRepeated = false
    }

    /// Ends a use of the frame. Containers that still point at it find another serial number.
    @inline(__always)
    func end() {
        pointee.serial = 0
        pointee.kept.endUse { pointee.state.pointee.nextSerial() }
        if !pointee.otherNames.isEmpty { pointee.otherNames.removeAll() }
        if !pointee.nested.isEmpty { dropNested() }
    }

    // MARK: Opening

    /// Makes this value an object. Several containers may write to the same object.
    @inline(__always)
    func openObject() { open(.object, "{") }

    @inline(__always)
    func openArray() { open(.array, "[") }

    @inline(__always)
    private func open(_ kind: EncodingFrame.Kind, _ bracket: StaticString) {
        if pointee.kind == .empty {
            pointee.kind = kind
            pointee.depth &+= 1
            if pointee.depth > EncodingState.maximumDepth { fail(tooDeep()) }
            pointee.output.pointee.append(bracket)
        } else if pointee.kind != kind {
            fail(invalid("", "Asked for containers of different kinds for one value."))
        } else if kind == .object, pointee.nextName != .max {
            compareAllNames()
        }
    }

    /// Notes that another container writes to the same object, maybe with another key type. From now on no name counts as known.
    @inline(never)
    private func compareAllNames() {
        pointee.nextName = .max
        var reader = writtenObject()
        while let key = (try? reader.nextMember()) ?? nil, (try? reader.skipValue()) != nil {
            pointee.otherNames.insert(key.text.string(in: key.base))
        }
    }

    /// Returns a reader inside the object, over the part that is written.
    private func writtenObject() -> JSONReader {
        let (output, start) = (pointee.output, pointee.start)
        let text = UnsafeRawBufferPointer(start: output.pointee.base + start, count: output.pointee.count &- start)
        var reader = JSONReader(text, maximumDepth: JSONReader.deepestLimit)
        try? reader.enterObject()
        return reader
    }

    @inline(__always)
    func keyedContainer<Key: CodingKey>() -> KeyedEncodingContainer<Key> {
        guard let kept = pointee.kept.kept(for: Key.self, KeyedEncodingContainer<Key>.self) else {
            return makeKeyedContainer()
        }
        // The frame owns the box, and outlives this call.
        return kept._withUnsafeGuaranteedRef { $0.copy() }
    }

    @inline(never)
    private func makeKeyedContainer<Key: CodingKey>() -> KeyedEncodingContainer<Key> {
        let made = KeyedEncodingContainer(KeyedEncoder<Key>(frame: self, serial: pointee.kept.serial))
        pointee.kept.keep(made)
        return made
    }

    // MARK: Failing

    /// Notes a failure in a function that cannot throw. The next encoding call fails, and so does the whole encoding.
    @inline(never)
    func fail(_ error: EncodingError) {
        if pointee.state.pointee.failure == nil { pointee.state.pointee.failure = error }
    }

    func tooDeep() -> EncodingError {
        let limit = EncodingState.maximumDepth
        let cause = JSONError(offset: pointee.output.pointee.count, reason: .tooDeep(limit: limit))
        return .invalidValue(
            "",
            EncodingError.Context(
                codingPath: codingPath, debugDescription: "Nested deeper than \(limit) levels (maximumDepth).",
                underlyingError: cause))
    }

    @inline(never)
    func invalid(_ value: Any, _ reason: String, at key: (any CodingKey)? = nil) -> EncodingError {
        let path = codingPath + (key.map { [$0] } ?? [])
        return .invalidValue(value, EncodingError.Context(codingPath: path, debugDescription: reason))
    }

    @inline(never)
    func noText(for value: some JSONPrimitive, at key: (any CodingKey)? = nil) -> EncodingError {
        invalid(value, "Unable to encode \(type(of: value)).\(value) directly in JSON.", at: key)
    }

    // MARK: Writing

    /// Checks that a container may write to this frame now. If the container is live, the frame belongs to it.
    @inline(__always)
    func checkWritable(_ isLive: Bool) throws {
        guard isLive, !pointee.isBusy, pointee.state.pointee.failure == nil else { throw notWritable(isLive) }
    }

    @inline(never)
    private func notWritable(_ isLive: Bool) -> any Error {
        if let failure = pointee.state.pointee.failure { return failure }
        if isLive { return invalid("", "A container was used while one of its values was being written.") }
        let text = "A container was used after its value was encoded."
        return EncodingError.invalidValue("", EncodingError.Context(codingPath: [], debugDescription: text))
    }

    /// Writes a value into the place that was begun for it. If that fails, the output is restored to the mark.
    @inline(__always)
    func encode<Value: Encodable>(_ value: Value, _ step: PathStep, from mark: (length: Int, count: Int)) throws {
        pointee.isBusy = true
        do {
            try pointee.state.encode(value, in: self, step)
        } catch {
            takeBack(to: mark)
            throw error
        }
        pointee.isBusy = false
    }

    @inline(__always)
    var mark: (length: Int, count: Int) { (pointee.output.pointee.count, pointee.count) }

    @inline(never)
    private func takeBack(to mark: (length: Int, count: Int)) {
        pointee.output.pointee.truncate(to: mark.length)
        pointee.count = mark.count
        pointee.isRepeated = false
        pointee.isBusy = false
    }

    @inline(__always)
    func beginElement() {
        if pointee.count > 0 { pointee.output.pointee.append(UInt8(ascii: ",")) }
        pointee.count &+= 1
    }

    /// Writes the text before a member's value, and returns where the name is.
    @inline(__always)
    @discardableResult
    func beginMember(_ name: String) -> Range<Int> {
        let output = pointee.output
        let number = pointee.nextName
        let target = output.pointee.reserve(1 &+ KnownName.longest)
        guard let known = pointee.kept.names.pointee[number], known.pointee.isShort(name),
            pointee.written &>> UInt64(number) & 1 == 0
        else { return beginOtherMember(name) }
        // The first member has no comma: the next byte is written over it.
        target.pointee = UInt8(ascii: ",")
        let comma = pointee.count > 0 ? 1 : 0
        known.pointee.write(to: target + comma)
        let place = output.pointee.count &+ comma
        output.pointee.commit(comma &+ known.pointee.count)
        pointee.count &+= 1
        pointee.written |= 1 &<< UInt64(number)
        pointee.nextName = number &+ 1
        return place &+ 1..<place &+ known.pointee.count &- 2
    }

    /// Does the same for a name that is not the one expected next.
    @inline(never)
    private func beginOtherMember(_ name: String) -> Range<Int> {
        let output = pointee.output
        beginElement()
        let place = output.pointee.count
        output.pointee.append(quoted: name)
        let end = output.pointee.count &- 1
        output.pointee.append(UInt8(ascii: ":"))
        let text = UnsafeBufferPointer(start: output.pointee.base + place, count: output.pointee.count &- place)
        let mark = markOfName(UnsafePointer(output.pointee.base) + place + 1, end &- place &- 1)
        if pointee.nextName != .max, let number = pointee.kept.names.pointee.number(of: name, text, mark: mark) {
            pointee.isRepeated = pointee.written &>> UInt64(number) & 1 == 1
            pointee.written |= 1 &<< UInt64(number)
            pointee.nextName = number &+ 1
        } else {
            pointee.isRepeated = !pointee.otherNames.insert(name).inserted
        }
        return place &+ 1..<end
    }

    /// Ends a member whose value is written. Of two members with one name the later one stays.
    @inline(__always)
    func endMember(_ name: String) {
        if pointee.isRepeated { removeEarlier(name) }
    }

    @inline(never)
    private func removeEarlier(_ name: String) {
        pointee.isRepeated = false
        let start = pointee.start
        var reader = writtenObject()
        var end = reader.position
        var earlier: Range<Int>?
        while let key = (try? reader.nextMember()) ?? nil, (try? reader.skipValue()) != nil {
            if key.matches(name) {
                if let earlier { return remove(start &+ earlier.lowerBound..<start &+ earlier.upperBound) }
                // Removes the comma before the member too. The first member has none, so the comma behind it goes.
                earlier = end == 1 ? end..<reader.position &+ 1 : end..<reader.position
            }
            end = reader.position
        }
    }

    private func remove(_ range: Range<Int>) {
        pointee.output.pointee.remove(range)
        pointee.count -= 1
        for index in pointee.nested.indices {
            let place = pointee.nested[index].place
            // A nested container of the removed member may still be written to, but has no place any more.
            if range.contains(place) { pointee.nested[index].place = -1 }
            if place >= range.upperBound { pointee.nested[index].place -= range.count }
        }
    }

    // MARK: Nested

    /// Makes the frame of a nested container or encoder. Its text is inserted here, if it is written before this value is
    /// complete.
    func addNested(_ key: any CodingKey) -> EncodingFramePointer {
        let nested = pointee.state.nestedFrame()
        pointee.nested.append((pointee.output.pointee.count, nested))
        pointee.output.pointee.append(UInt8(ascii: "0"))
        nested.begin(in: self, .none, nested.pointee.output)
        nested.pointee.storedKey = key
        return nested
    }

    private func dropNested() {
        for nested in pointee.nested { pointee.state.giveBack(nested: nested.frame) }
        pointee.nested.removeAll()
    }

    /// Inserts the texts of nested containers.
    @inline(never)
    private func placeNested() {
        guard let first = pointee.nested.first(where: { $0.place >= 0 })?.place else { return dropNested() }
        let output = pointee.output
        // Mostly there is nothing behind: an enumeration writes one nested container only.
        let behind = Array(
            UnsafeBufferPointer(start: output.pointee.base + first + 1, count: output.pointee.count &- first &- 1))
        output.pointee.truncate(to: first)
        var at = 0
        for (place, frame) in pointee.nested where place >= 0 {
            let length = place &- first &- 1
            if length > at { behind[at..<length].withUnsafeBufferPointer { output.pointee.append($0) } }
            frame.close()
            let text = frame.pointee.output.pointee
            output.pointee.append(UnsafeBufferPointer(start: text.base, count: text.count))
            at = length &+ 1
        }
        if at < behind.count { behind[at...].withUnsafeBufferPointer { output.pointee.append($0) } }
        dropNested()
    }

    /// Completes the value.
    @inline(__always)
    func close() {
        if !pointee.nested.isEmpty { placeNested() }
        switch pointee.kind {
        case .empty: pointee.output.pointee.append("{}")
        case .object: pointee.output.pointee.append(UInt8(ascii: "}"))
        case .array: pointee.output.pointee.append(UInt8(ascii: "]"))
        case .scalar: break
        }
    }
}
