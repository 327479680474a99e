// Value after value of a type reads and writes the same names, and mostly in the same order. So the names of a type of key
// are remembered as they are written: next time a few comparisons find them, and a few steps write them.

/// The names met with one type of key. What is remembered is only ever a guess, and compared. No two of the names are equal.
struct KnownNames {
    private var known: UnsafeMutablePointer<KnownName>?
    private(set) var count = 0
    /// Keeps the memory of longer names, so that no other one can take its address.
    private var names: [String] = []

    static let capacity = 32

    func deallocate() { known?.deallocate() }

    @inline(__always)
    subscript(number: Int) -> UnsafePointer<KnownName>? {
        guard number < count, let known else { return nil }
        return UnsafePointer(known + number)
    }

    /// The number of a name, with which it is remembered from now on. Nil if there is no room for another one.
    ///
    /// - Parameter text: the name as it is written, with its quotes and the colon.
    /// - Parameter mark: of the text between the quotes.
    @inline(never)
    mutating func number(of name: String, _ text: UnsafeBufferPointer<UInt8>, mark: UInt32) -> Int? {
        let known = known ?? .allocate(capacity: Self.capacity)
        self.known = known
        for number in 0..<count where known[number].mark == mark && names[number] == name { return number }
        guard count < Self.capacity else { return nil }
        (known + count).initialize(to: KnownName(name, text, mark))
        names.append(name)
        count += 1
        return count - 1
    }
}

struct KnownName {
    /// What is longer is remembered, but written and compared the ordinary way.
    static let longest = 24

    /// Of the String that was asked for or written, which is kept.
    private let bits: (UInt64, UInt64)
    /// Of the text, with its quotes and the colon. 0 if it is too long, or where a String does not take 16 bytes.
    let count: Int
    let mark: UInt32
    /// Zeros behind its end.
    private let text: InlineArray<3, UInt64>
    /// The last eight bytes of the text, and where they begin; of a shorter text all of it.
    private let end: UInt64
    private let last: Int
    private let mask: UInt64

    init(_ name: String, _ written: UnsafeBufferPointer<UInt8>, _ mark: UInt32) {
        bits = Self.bits(of: name)
        count = written.count <= Self.longest && MemoryLayout<String>.size == 16 ? written.count : 0
        self.mark = mark
        text = InlineArray { Self.eight(written, from: $0 * 8) }
        last = max(0, written.count - 8)
        end = Self.eight(written, from: last)
        mask = written.count >= 8 ? .max : (1 << UInt64(written.count * 8)) - 1
    }

    private static func eight(_ written: UnsafeBufferPointer<UInt8>, from start: Int) -> UInt64 {
        written.dropFirst(start).prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Whether this is the name. Then its text can be written and compared; false also for a long one.
    @inline(__always)
    func isShort(_ name: String) -> Bool { count != 0 && bits == Self.bits(of: name) }

    /// The bytes that a String consists of, not those of its text. Two Strings with the same are equal while both exist, however
    /// a String is laid out; equal Strings may differ here.
    @inline(__always)
    private static func bits(of name: String) -> (UInt64, UInt64) {
        MemoryLayout<String>.size == 16 ? unsafeBitCast(name, to: (UInt64, UInt64).self) : (0, 0)
    }

    /// Whether the name stands at this offset, in quotes and with a colon behind it.
    @inline(__always)
    func stands(at offset: Int, in reader: JSONReader) -> Bool {
        guard offset &+ last &+ 8 <= reader.count, EightBytes(reader.base, at: offset).word & mask == text[0],
            EightBytes(reader.base, at: offset &+ last).word & mask == end
        else { return false }
        return count <= 16 || EightBytes(reader.base, at: offset &+ 8).word == text[1]
    }

    /// Writes the text to where there is room for the longest.
    @inline(__always)
    func write(to target: UnsafeMutablePointer<UInt8>) {
        let room = UnsafeMutableRawPointer(target)
        room.storeBytes(of: text[0].littleEndian, as: UInt64.self)
        room.storeBytes(of: text[1].littleEndian, toByteOffset: 8, as: UInt64.self)
        room.storeBytes(of: text[2].littleEndian, toByteOffset: 16, as: UInt64.self)
    }
}
