// Skips over long runs of text without special characters, many bytes in one step. The string loops of the reader and the writer
// call it when a text turns out to be long.

enum LongText {
    /// How many bytes are examined in one step, and from which length a text counts as long.
    private static let stride = 4 * Sixteen.scalarCount
    static let patience = 32

    /// Fits one register of every machine. Comparisons of wider vectors would be compiled to calls.
    private typealias Sixteen = SIMD16<UInt8>
    private typealias Marks = SIMDMask<SIMD16<Int8>>

    /// Skips whole strides. Returns where it stopped, and whether any byte had its high bit set.
    @inline(never)
    static func passOver(_ base: UnsafePointer<UInt8>, from start: Int, to end: Int) -> (at: Int, seen: UInt64) {
        var at = start
        var seen = Sixteen(repeating: 0)
        while at &+ stride <= end {
            let (a, b) = (sixteen(base, at), sixteen(base, at &+ 16))
            let (c, d) = (sixteen(base, at &+ 32), sixteen(base, at &+ 48))
            guard isNone(stops(a) .| stops(b) .| (stops(c) .| stops(d))) else { break }
            seen |= a | b | (c | d)
            at &+= stride
        }
        let halves = unsafeBitCast(seen, to: SIMD2<UInt64>.self)
        return (at, halves[0] | halves[1])
    }

    /// Copies whole strides in which no byte needs an escape. Returns where it stopped.
    @inline(never)
    static func copyClean(
        _ base: UnsafePointer<UInt8>, from start: Int, to end: Int, into target: UnsafeMutablePointer<UInt8>
    ) -> Int {
        var at = start
        while at &+ stride <= end {
            let (a, b) = (sixteen(base, at), sixteen(base, at &+ 16))
            let (c, d) = (sixteen(base, at &+ 32), sixteen(base, at &+ 48))
            guard isNone(escapes(a) .| escapes(b) .| (escapes(c) .| escapes(d))) else { break }
            let room = UnsafeMutableRawPointer(target + at)
            room.storeBytes(of: a, as: Sixteen.self)
            room.storeBytes(of: b, toByteOffset: 16, as: Sixteen.self)
            room.storeBytes(of: c, toByteOffset: 32, as: Sixteen.self)
            room.storeBytes(of: d, toByteOffset: 48, as: Sixteen.self)
            at &+= stride
        }
        return at
    }

    @inline(__always)
    private static func sixteen(_ base: UnsafePointer<UInt8>, _ offset: Int) -> Sixteen {
        UnsafeRawPointer(base).loadUnaligned(fromByteOffset: offset, as: Sixteen.self)
    }

    /// Finds quotes, backslashes and control characters. With the second bit flipped, a quote is 0x20 and the control characters
    /// are still below it. So one comparison finds both.
    @inline(__always)
    private static func stops(_ bytes: Sixteen) -> Marks {
        ((bytes ^ Sixteen(repeating: 2)) .<= Sixteen(repeating: 0x20))
            .| (bytes .== Sixteen(repeating: UInt8(ascii: "\\")))
    }

    /// Finds the slash too, which the writer escapes.
    @inline(__always)
    private static func escapes(_ bytes: Sixteen) -> Marks {
        stops(bytes) .| (bytes .== Sixteen(repeating: UInt8(ascii: "/")))
    }

    @inline(__always)
    private static func isNone(_ marks: Marks) -> Bool {
        let halves = unsafeBitCast(marks, to: SIMD2<UInt64>.self)
        return halves[0] | halves[1] == 0
    }
}
