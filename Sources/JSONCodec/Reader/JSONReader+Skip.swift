// Walks over a whole value of any depth without recursion and without memory of its own, checking every byte.

extension JSONReader {
    /// Moves behind the value at the cursor and returns its range. What lies in the range is valid JSON.
    package mutating func skipValue() throws(JSONError) -> Range<Int> {
        let kind = try peek()
        let start = position
        switch kind {
        case .object, .array:
            var none = NoContainerNotes()
            try skipContainer(&none)
        default: try skipScalar(kind)
        }
        return start..<position
    }

    @inline(__always)
    mutating func skipScalar(_ kind: JSONKind) throws(JSONError) {
        switch kind {
        case .string: _ = try scanString()
        case .number: if !skipShortNumber() { _ = try scanNumber() }
        case .true: try skipLiteral("true")
        case .false: try skipLiteral("false")
        default: try skipLiteral("null")
        }
    }

    /// A number of few digits, perhaps some behind a point: the usual case, for which nobody needs the value. False, with
    /// the cursor unmoved, for any other, and for one that ends with the text.
    @inline(__always)
    private mutating func skipShortNumber() -> Bool {
        var at = base[position] == UInt8(ascii: "-") ? position &+ 1 : position
        let bound = min(count, at &+ 32)
        let start = at
        skipDigits(&at, before: bound)
        guard at < bound, at > start, at == start &+ 1 || base[start] != UInt8(ascii: "0") else { return false }
        if base[at] == UInt8(ascii: ".") {
            at &+= 1
            let fraction = at
            skipDigits(&at, before: bound)
            guard at < bound, at > fraction else { return false }
        }
        guard base[at] | 0x20 != UInt8(ascii: "e") else { return false }
        position = at
        return true
    }

    @inline(__always)
    private func skipDigits(_ at: inout Int, before bound: Int) {
        while at < bound, base[at] &- UInt8(ascii: "0") < 10 { at &+= 1 }
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

    /// The cursor stands at the opening bracket. Every container met, this one first, is told to `notes`.
    @inline(__always)
    mutating func skipContainer(_ notes: inout some ContainerNotes) throws(JSONError) {
        let outside = depth
        var objects = OpenContainers()
        repeat {
            // Here the cursor stands at the start of a value.
            let kind = try peek()
            switch kind {
            case .object:
                notes.opened(at: position)
                try enterObject()
                objects[depth] = true
            case .array:
                notes.opened(at: position)
                try enterArray()
                objects[depth] = false
            default: try skipScalar(kind)
            }
            skipPlain(&objects, outside: outside, &notes)
            // Close what ends here, and stop at the next value.
            while depth > outside {
                if objects[depth] {
                    if try nextMember() != nil { break }
                } else {
                    if try nextElement() { break }
                }
                notes.closed(at: position)
            }
        } while depth > outside
    }
}

/// Learns where containers begin and end while they are skipped.
protocol ContainerNotes {
    mutating func opened(at offset: Int)
    mutating func closed(at offset: Int)
}

struct NoContainerNotes: ContainerNotes {
    @inline(__always) func opened(at offset: Int) {}
    @inline(__always) func closed(at offset: Int) {}
}

/// Which of the open containers are objects, one bit for each level.
struct OpenContainers {
    private var bits = InlineArray<17, UInt64>(repeating: 0)

    subscript(depth: Int) -> Bool {
        @inline(__always) get { bits[depth &>> 6] &>> UInt64(depth & 63) & 1 == 1 }
        @inline(__always) set {
            let mask: UInt64 = 1 &<< UInt64(depth & 63)
            if newValue { bits[depth &>> 6] |= mask } else { bits[depth &>> 6] &= ~mask }
        }
    }
}
