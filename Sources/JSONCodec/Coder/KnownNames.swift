// Value after value of a type reads and writes the same names, and mostly in the same order. So a frame remembers which
// name stood at which number, and how that name is written: next time a few comparisons tell that it stands there again,
// or a few steps write it, and nothing needs to be looked at byte by byte.

/// Lives in a frame and outlasts its uses. What is remembered is only ever a guess, and compared. No two of the names are
/// equal.
struct KnownNames {
    private var known: UnsafeMutablePointer<KnownName>?
    private(set) var count = 0
    /// Keeps the memory of longer names, so that no other one can take its address.
    private var names: [String] = []

    static let capacity = 16

    @inline(__always)
    subscript(number: Int) -> UnsafePointer<KnownName>? {
        guard number < count, let known else { return nil }
        return UnsafePointer(known + number)
    }

    /// Remembers a name that stood at this number. The text is the name as it is written, with its quotes and the colon.
    @inline(never)
    mutating func remember(_ name: String, at number: Int, _ text: UnsafeBufferPointer<UInt8>, mark: UInt32) {
        guard number <= count, number < Self.capacity, text.count <= KnownName.longest else { return }
        let known = known ?? .allocate(capacity: Self.capacity)
        self.known = known
        // Where the name stood before it is forgotten.
        for other in 0..<count where other != number && names[other] == name { known[other] = KnownName() }
        known[number] = KnownName(name, text, mark)
        if number < count {
            names[number] = name
        } else {
            names.append(name)
            count += 1
        }
    }
}

struct KnownName {
    static let longest = 24

    /// Of the String that was asked for or written, which is kept.
    let bits: (UInt64, UInt64)
    /// Of the text, with its quotes and the colon.
    let count: Int
    let mark: UInt32
    /// Zeros behind its end.
    private let text: InlineArray<3, UInt64>
    /// The last eight bytes of the text, and where they begin; of a shorter text all of it.
    private let end: UInt64
    private let last: Int
    private let mask: UInt64

    init(_ name: String, _ written: UnsafeBufferPointer<UInt8>, _ mark: UInt32) {
        bits = bitsOfName(name)
        count = written.count
        self.mark = mark
        text = InlineArray { Self.eight(written, from: $0 * 8) }
        last = max(0, written.count - 8)
        end = Self.eight(written, from: last)
        self.mask = written.count >= 8 ? .max : (1 << UInt64(written.count * 8)) - 1
    }

    /// None: no String has these bits.
    init() {
        (bits, count, mark, text) = ((0, 0), 0, 0, [0, 0, 0])
        (end, last, mask) = (0, 0, 0)
    }

    private static func eight(_ written: UnsafeBufferPointer<UInt8>, from start: Int) -> UInt64 {
        written.dropFirst(start).prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
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
