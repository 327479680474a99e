// Walks over a whole value of any depth without recursion, checking every byte.

extension JSONReader {
    /// Moves behind the value at the cursor and returns its range. The bytes in the range are valid JSON.
    package mutating func skipValue() throws(JSONError) -> Range<Int> {
        let kind = try peek()
        let start = position
        switch kind {
        case .object, .array:
            var none = NoContainerObserver()
            try skipContainer(&none)
        default: try skipScalar(kind)
        }
        return start..<position
    }

    /// Moves behind the value at the cursor and returns its range. Allows any depth of nesting, and half a surrogate pair in a
    /// string. Throws at any other fault. The value must not be decoded.
    package mutating func skipFlawedValue() throws(JSONError) -> Range<Int> {
        let limit = maximumDepth
        maximumDepth = .max
        passesLoneSurrogates = true
        defer {
            maximumDepth = limit
            passesLoneSurrogates = false
        }
        return try skipValue()
    }

    @inline(__always)
    mutating func skipScalar(_ kind: JSONKind) throws(JSONError) {
        switch kind {
        case .string: _ = try scanString()
        case .number: _ = try scanNumber()
        case .true: try skipLiteral("true")
        case .false: try skipLiteral("false")
        default: try skipLiteral("null")
        }
    }

    @inline(__always)
    mutating func skipLiteral(_ name: StaticString) throws(JSONError) {
        let length = name.utf8CodeUnitCount
        if position &+ length <= count, equalBytes(base + position, name.utf8Start, length) {
            position &+= length
            return
        }
        for index in 0..<length {
            let at = position &+ index
            guard at < count else { throw JSONError(offset: at, reason: .unexpectedEnd) }
            guard base[at] == name.utf8Start[index] else {
                throw JSONError(offset: at, reason: .unexpectedByte(base[at], expected: .value))
            }
        }
        position &+= length
    }

    /// Skips a container whose opening bracket is at the cursor. `observer` is told of each container met, this one first.
    @inline(__always)
    mutating func skipContainer(_ observer: inout some ContainerObserver) throws(JSONError) {
        let outside = depth
        var objects = OpenContainers()
        repeat {
            // Here the cursor is at the start of a value.
            let kind = try peek()
            switch kind {
            case .object:
                observer.opened(at: position)
                try enterObject()
                objects[depth &- outside] = true
            case .array:
                observer.opened(at: position)
                try enterArray()
                objects[depth &- outside] = false
            default: try skipScalar(kind)
            }
            skipPlain(&objects, outside: outside, &observer)
            // Closes the containers that end here, and stops at the next value.
            while depth > outside {
                let hasMore = try objects[depth &- outside] ? nextMember() != nil : nextElement()
                if hasMore { break }
                observer.closed(at: position)
            }
        } while depth > outside
    }

    // MARK: The usual spelling

    /// Walks on while the text is spelled in the usual way: no blanks, no escapes, only ASCII, no long strings. The cursor is
    /// then kept in a register, which saves a fifth of the time. Any other text is left to the general walk, which checks it.
    ///
    /// Starts and stops behind a value or an opening bracket. Stops at the latest when the container inside `outside` others is
    /// closed.
    @inline(__always)
    private mutating func skipPlain(
        _ objects: inout OpenContainers, outside: Int, _ observer: inout some ContainerObserver
    ) {
        // At any place before the bound eight bytes can be read. Behind a quote that is true at the bound itself.
        let (base, bound) = (base, count &- 9)
        var (at, depth, isFirst) = (position, depth, isFirst)
        var isObject = objects[depth &- outside]
        while at < bound {
            var next = at
            if !isFirst {
                guard base[at] == UInt8(ascii: ",") else {
                    guard base[at] == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else { break }
                    at &+= 1
                    observer.closed(at: at)
                    depth &-= 1
                    if depth == outside { break }
                    isObject = objects[depth &- outside]
                    continue
                }
                next &+= 1
            }
            if isObject {
                guard base[next] == UInt8(ascii: "\"") else { break }
                next = Self.endOfPlainText(base, next, bound)
                guard next != 0, next < bound, base[next] == UInt8(ascii: ":") else { break }
                next &+= 1
            }
            let end = Self.endOfPlainScalar(base, next, bound)
            if end != 0 {
                at = end
                isFirst = false
                continue
            }
            // A bracket differs from a brace in this bit only.
            let bracket = base[next]
            guard bracket | 0x20 == UInt8(ascii: "{"), depth < maximumDepth else { break }
            observer.opened(at: next)
            depth &+= 1
            isObject = bracket == UInt8(ascii: "{")
            objects[depth &- outside] = isObject
            isFirst = true
            at = next &+ 1
        }
        (position, self.depth, self.isFirst) = (at, depth, isFirst)
    }

    /// Returns the offset behind the token at an offset; 0 for an unusual one. At least eight bytes must follow the offset.
    @inline(__always)
    private static func endOfPlainScalar(_ base: UnsafePointer<UInt8>, _ start: Int, _ bound: Int) -> Int {
        let first = base[start]
        if first == UInt8(ascii: "\"") { return endOfPlainText(base, start, bound) }
        if first &- UInt8(ascii: "0") < 10 || first == UInt8(ascii: "-") {
            return JSONNumber.endOfPlain(base, start, bound)
        }
        let word = EightBytes(base, at: start).word
        switch UInt32(truncatingIfNeeded: word) {
        // null and true
        case 0x6C6C_756E, 0x6575_7274: return start &+ 4
        case 0x736C_6166 where UInt8(truncatingIfNeeded: word &>> 32) == UInt8(ascii: "e"): return start &+ 5
        default: return 0
        }
    }
}

/// Is told where containers begin and end while they are skipped.
protocol ContainerObserver {
    mutating func opened(at offset: Int)
    mutating func closed(at offset: Int)
}

struct NoContainerObserver: ContainerObserver {
    @inline(__always) func opened(at offset: Int) {}
    @inline(__always) func closed(at offset: Int) {}
}

/// Knows which of the open containers are objects.
private struct OpenContainers {
    private static let near = UInt64.bitWidth
    /// One bit for each of the first levels.
    private var bits: UInt64 = 0
    /// The levels beyond those, which few values have.
    private var deep: [Bool] = []

    subscript(level: Int) -> Bool {
        @inline(__always) get {
            guard level < Self.near else { return deep[level &- Self.near] }
            return bits &>> UInt64(level) & 1 == 1
        }
        @inline(__always) set {
            guard level < Self.near else { return setDeep(level &- Self.near, newValue) }
            let mask: UInt64 = 1 &<< UInt64(level)
            if newValue { bits |= mask } else { bits &= ~mask }
        }
    }

    @inline(never)
    private mutating func setDeep(_ level: Int, _ isObject: Bool) {
        if level == deep.count { deep.append(isObject) } else { deep[level] = isObject }
    }
}
