// Walks over what is inside containers for as long as it is what most texts are: no blanks, no escapes, nothing but ASCII,
// no long strings. The cursor is kept at hand meanwhile, which makes most of the difference. Whatever else comes is left to
// the general walk, which is the judge of what is wrong with it.

extension JSONReader {
    /// What is left alone at the end of a text, so that eight bytes can be looked at anywhere before, and behind a quote that
    /// stands at the bound itself.
    private static let margin = 9

    /// The cursor stands behind a value, or behind an opening bracket, and so it does afterwards; or the container is closed
    /// that `outside` others are open around.
    @inline(__always)
    mutating func skipPlain(_ objects: inout OpenContainers, outside: Int, _ notes: inout some ContainerNotes) {
        let (base, bound) = (base, count &- Self.margin)
        var (at, depth, isFirst) = (position, depth, isFirst)
        var isObject = objects[depth]
        while at < bound {
            var next = at
            if !isFirst {
                guard base[at] == UInt8(ascii: ",") else {
                    guard base[at] == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else { break }
                    at &+= 1
                    notes.closed(at: at)
                    depth &-= 1
                    if depth == outside { break }
                    isObject = objects[depth]
                    continue
                }
                next &+= 1
            }
            if isObject {
                guard base[next] == UInt8(ascii: "\"") else { break }
                next = Self.endOfString(base, next, bound)
                guard next != 0, next < bound, base[next] == UInt8(ascii: ":") else { break }
                next &+= 1
            }
            let end = Self.endOfScalar(base, next, bound)
            if end != 0 {
                at = end
                isFirst = false
                continue
            }
            // The brackets differ from the braces in this bit.
            let bracket = base[next]
            guard bracket | 0x20 == UInt8(ascii: "{"), depth < maximumDepth else { break }
            notes.opened(at: next)
            depth &+= 1
            isObject = bracket == UInt8(ascii: "{")
            objects[depth] = isObject
            isFirst = true
            at = next &+ 1
        }
        (position, self.depth, self.isFirst) = (at, depth, isFirst)
    }

    /// The offset behind the token that begins at an offset; 0 for anything unusual, as in what follows.
    @inline(__always)
    private static func endOfScalar(
        _ base: UnsafePointer<UInt8>, _ start: Int, _ bound: Int
    ) -> Int {
        let first = base[start]
        if first == UInt8(ascii: "\"") { return endOfString(base, start, bound) }
        if first &- UInt8(ascii: "0") < 10 || first == UInt8(ascii: "-") { return endOfNumber(base, start, bound) }
        return endOfLiteral(EightBytes(base, at: start).word, start)
    }

    @inline(__always)
    private static func endOfString(_ base: UnsafePointer<UInt8>, _ start: Int, _ bound: Int) -> Int {
        var at = start &+ 1
        repeat {
            let eight = EightBytes(base, at: at)
            // What is not ASCII stops as well.
            let stops = eight.stops | eight.word & EightBytes.highBits
            guard stops == 0 else {
                at &+= EightBytes.count(before: stops)
                return base[at] == UInt8(ascii: "\"") ? at &+ 1 : 0
            }
            at &+= 8
        } while at <= bound && at &- start < LongText.patience
        return 0
    }

    /// Digits, perhaps some behind a point.
    @inline(__always)
    private static func endOfNumber(_ base: UnsafePointer<UInt8>, _ start: Int, _ bound: Int) -> Int {
        let whole = base[start] == UInt8(ascii: "-") ? start &+ 1 : start
        // A long one may be too long.
        let bound = min(bound, start &+ 32)
        var at = endOfDigits(base, whole, bound)
        guard at > whole, at == whole &+ 1 || base[whole] != UInt8(ascii: "0") else { return 0 }
        if base[at] == UInt8(ascii: ".") {
            let fraction = at &+ 1
            at = endOfDigits(base, fraction, bound)
            guard at > fraction else { return 0 }
        }
        return at < bound && base[at] | 0x20 != UInt8(ascii: "e") ? at : 0
    }

    /// Perhaps somewhat behind the bound.
    @inline(__always)
    private static func endOfDigits(_ base: UnsafePointer<UInt8>, _ start: Int, _ bound: Int) -> Int {
        var at = start
        while at < bound {
            let count = EightBytes(base, at: at).digitCount
            at &+= count
            if count < 8 { break }
        }
        return at
    }

    @inline(__always)
    private static func endOfLiteral(_ word: UInt64, _ start: Int) -> Int {
        switch UInt32(truncatingIfNeeded: word) {
        // null and true
        case 0x6C6C_756E, 0x6575_7274: start &+ 4
        case 0x736C_6166 where UInt8(truncatingIfNeeded: word &>> 32) == UInt8(ascii: "e"): start &+ 5
        default: 0
        }
    }
}
