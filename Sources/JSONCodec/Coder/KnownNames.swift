// Remembers the names of a key type as they are written. Values of one type have the same names, mostly in the same order. So a
// few comparisons find the next name, and a few steps write it.

/// The names met with one key type. A remembered name is only a guess, and is always compared. No two names are equal.
struct KnownNames {
    private var known: UnsafeMutablePointer<KnownName>?
    private(set) var count = 0
    /// Keeps the longer names alive, so that no other String can get the same address.
    private var names: [String] = []

    static let capacity = 32

    func deallocate() { known?.deallocate() }

    @inline(__always)
    subscript(number: Int) -> UnsafePointer<KnownName>? {
        guard number < count, let known else { return nil }
        return UnsafePointer(known + number)
    }

    /// Remembers a name and returns its number. Nil if there is no room for another name.
    ///
    /// - Parameter text: the name as it is written, with its quotes and the colon.
    /// - Parameter mark: the mark of the text between the quotes.
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
    /// Longer names are remembered too, but written and compared in the general way.
    static let longest = 24

    /// The bits of the String that was asked for or written. `names` keeps it alive.
    private let bits: (UInt64, UInt64)
    /// The length of the text with its quotes and the colon. 0 if it is too long, or if a String does not take 16 bytes.
    let count: Int
    let mark: UInt32
    /// The text, with zeros behind its end.
    private let text: (UInt64, UInt64, UInt64)
    /// The last eight bytes of the text; all of a shorter text. `last` is where they begin.
    private let end: UInt64
    private let last: Int
    private let mask: UInt64

    init(_ name: String, _ written: UnsafeBufferPointer<UInt8>, _ mark: UInt32) {
        bits = Self.bits(of: name)
        count = written.count <= Self.longest && MemoryLayout<String>.size == 16 ? written.count : 0
        self.mark = mark
        text = (Self.eight(written, from: 0), Self.eight(written, from: 8), Self.eight(written, from: 16))
        last = max(0, written.count - 8)
        end = Self.eight(written, from: last)
        mask = written.count >= 8 ? .max : (1 << UInt64(written.count * 8)) - 1
    }

    private static func eight(_ written: UnsafeBufferPointer<UInt8>, from start: Int) -> UInt64 {
        written.dropFirst(start).prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Whether this is the name, and its text can be written and compared. False also for a long name.
    @inline(__always)
    func isShort(_ name: String) -> Bool { count != 0 && bits == Self.bits(of: name) }

    /// The bytes of the String value itself, not those of its text. Two Strings with equal bits are equal while both exist. That
    /// holds for any layout of 16 bytes; for another size there are no bits. Equal Strings may have different bits.
    @inline(__always)
    private static func bits(of name: String) -> (UInt64, UInt64) {
        MemoryLayout<String>.size == 16 ? unsafeBitCast(name, to: (UInt64, UInt64).self) : (0, 0)
    }

    /// Whether the name is at this offset of the text, in quotes and with a colon behind it.
    @inline(__always)
    func stands(at offset: Int, in reader: JSONReader) -> Bool {
        guard offset &+ last &+ 8 <= reader.count, EightBytes(reader.base, at: offset).word & mask == text.0,
            EightBytes(reader.base, at: offset &+ last).word & mask == end
        else { return false }
        return count <= 16 || EightBytes(reader.base, at: offset &+ 8).word == text.1
    }

    /// Writes the text to a place with room for the longest one.
    @inline(__always)
    func write(to target: UnsafeMutablePointer<UInt8>) {
        let room = UnsafeMutableRawPointer(target)
        room.storeBytes(of: text.0.littleEndian, as: UInt64.self)
        room.storeBytes(of: text.1.littleEndian, toByteOffset: 8, as: UInt64.self)
        room.storeBytes(of: text.2.littleEndian, toByteOffset: 16, as: UInt64.self)
    }
}
