// One value that is being decoded: where it is in the text, and how far it has been read. Frames have fixed addresses and are
// reused; decoders and containers point at them.

typealias DecodingFramePointer = UnsafeMutablePointer<DecodingFrame>

struct DecodingFrame {
    enum Kind {
        case unopened, object, array
    }

    let state: DecodingStatePointer
    let index: Int

    /// Identifies the present use of the frame. A container with another number belongs to an earlier use.
    var serial: UInt = 0
    var kind = Kind.unopened
    /// Whether there is no value: a super decoder for a member that does not exist, which reads null.
    var isMissing = false
    /// Whether `nestedContainer` or `superDecoder` made it. The user's code may hold it until the value around it is decoded.
    var isNested = false
    /// Whether the user's code got a decoder or container whose copies cannot be counted.
    var isLoose = false
    var parent: DecodingFramePointer?
    var step = PathStep.none
    var storedKey: (any CodingKey)?
    /// The path to this value; nil until something asks for it.
    var path: [any CodingKey]?

    /// The value's first byte, and the byte behind the value once that is known.
    var start = 0
    var end: Int?
    /// How many containers are open around the value.
    var depth = 0
    /// Object: where reading continues. Array: the farthest place to which an element was read.
    var cursor = 0
    var isFirst = true
    /// Object: whether the cursor is at the value of the last member in the list.
    var isAtValue = false
    var members = MemberList()
    /// The number of the name that is expected next.
    var nextName = 0
    /// The member that was asked for last.
    var found = 0
    var kept: KeptContainers
    /// Held by the copies of an unkeyed container.
    var hold: UnkeyedDecoder.Hold?

    init(state: DecodingStatePointer, index: Int, serial: UInt) {
        self.state = state
        self.index = index
        kept = KeptContainers(serial: serial)
    }
}

extension DecodingFramePointer {
    /// Kept in the frame, because a type that tries several forms makes many errors at one place.
    var codingPath: [any CodingKey] {
        if let known = pointee.path { return known }
        var outside: [DecodingFramePointer] = []
        var level = pointee.parent
        while let frame = level, frame.pointee.path == nil {
            outside.append(frame)
            level = frame.pointee.parent
        }
        var path = level?.pointee.path ?? []
        for frame in outside.reversed() + [self] {
            let base = pointee.state.pointee.reader.base
            let key = frame.pointee.storedKey ?? frame.pointee.step.key(in: base, isQuoted: false)
            if let key { path.append(key) }
            frame.pointee.path = path
        }
        return path
    }

    /// Testing `storedKey` for nil would copy it. So the caller tests `isNested` before this call.
    @inline(never)
    func forgetKey() {
        pointee.storedKey = nil
        pointee.isNested = false
    }

    /// Whether the user's code holds no container or decoder of this frame any more.
    var isUnused: Bool {
        guard !pointee.isLoose, pointee.kept.areUnused else { return false }
        return pointee.hold == nil || isKnownUniquelyReferenced(&pointee.hold)
    }

    // MARK: Opening

    /// The kind of the value. The reader is then at the value.
    @inline(__always)
    func peek() throws -> JSONKind {
        if pointee.isMissing { return .null }
        let state = pointee.state
        state.seek(pointee.start, depth: pointee.depth)
        return try state.read { reader throws(JSONError) in try reader.peek() }
    }

    /// Opens the value as an object. Several containers may read the same object.
    @inline(__always)
    func openObject() throws {
        if pointee.kind == .object {
            // Another key type has other known names.
            return pointee.members.forgetThatNamesDiffer()
        }
        let kind = try peek()
        guard kind == .object else { throw wrongContainer([String: Any].self, found: kind) }
        let state = pointee.state
        try state.read { reader throws(JSONError) in try reader.enterObject() }
        pointee.kind = .object
        pointee.cursor = state.pointee.reader.position
        pointee.isFirst = true
        pointee.isAtValue = false
        pointee.nextName = 0
        // The end may be known if the value was also read through a single-value container.
        pointee.end = nil
        if state.pointee.isCareful { try readAhead() }
    }

    /// Notes all members.
    func readAhead() throws { while try advance(remembering: true) {} }

    /// Opens the value as an array and returns where its first element would be.
    func openArray() throws -> Int {
        let kind = try peek()
        guard kind == .array else { throw wrongContainer([Any].self, found: kind) }
        let state = pointee.state
        try state.read { reader throws(JSONError) in try reader.enterArray() }
        if pointee.kind == .unopened {
            pointee.kind = .array
            pointee.cursor = state.pointee.reader.position
            pointee.isFirst = true
        }
        return state.pointee.reader.position
    }

    @inline(__always)
    func keyedContainer<Key: CodingKey>() -> KeyedDecodingContainer<Key> {
        guard let kept = pointee.kept.kept(for: Key.self, KeyedDecodingContainer<Key>.self) else {
            return makeKeyedContainer()
        }
        // The frame owns the box, and outlives this call.
        return kept._withUnsafeGuaranteedRef { $0.copy() }
    }

    @inline(never)
    private func makeKeyedContainer<Key: CodingKey>() -> KeyedDecodingContainer<Key> {
        let made = KeyedDecodingContainer(KeyedDecoder<Key>(frame: self, serial: pointee.kept.serial))
        pointee.kept.keep(made)
        return made
    }

    // MARK: Tokens

    /// Reads the value of this type at the reader's cursor.
    @inline(__always)
    func read<Value: JSONPrimitive>(_ type: Value.Type, at key: @autoclosure () -> (any CodingKey)? = nil) throws
        -> Value
    {
        let value = try pointee.state.read { reader throws(JSONError) in try Value.read(&reader) }
        guard let value else { throw mismatch(type, at: key()) }
        return value
    }

    /// Whether null is at the reader's cursor, which is then moved behind it.
    @inline(__always)
    func readNull() throws -> Bool {
        try pointee.state.read { reader throws(JSONError) in
            guard try reader.nextByte() == UInt8(ascii: "n") else { return false }
            try reader.skipLiteral("null")
            return true
        }
    }

    // MARK: Finishing

    /// Reads the rest of the value, so that all of it is checked and its end is known.
    @inline(__always)
    func finish() throws {
        guard pointee.end == nil, !pointee.isMissing else { return }
        let reader = pointee.state.pointee.reader
        if pointee.kind == .object, !pointee.isAtValue, pointee.cursor < reader.count,
            reader.base[pointee.cursor] == UInt8(ascii: "}")
        {
            pointee.end = pointee.cursor &+ 1
            return
        }
        try finishSlowly()
    }

    @inline(never)
    private func finishSlowly() throws {
        let state = pointee.state
        switch pointee.kind {
        case .object:
            while try advance(remembering: false) {}
            return
        case .array:
            state.seek(pointee.cursor, depth: pointee.depth &+ 1)
            state.pointee.reader.isFirst = pointee.isFirst
            while try state.read({ reader throws(JSONError) in try reader.nextElement() }) {
                try state.skipValue(remembering: false)
            }
        case .unopened:
            state.seek(pointee.start, depth: pointee.depth)
            try state.skipValue(remembering: false)
        }
        pointee.end = state.pointee.reader.position
    }
}
