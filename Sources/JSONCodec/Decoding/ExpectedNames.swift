// Value after value of a type asks for the same names, and most texts have them in that order. So a frame remembers
// which name it found at which number, and how that name is written: next time two comparisons of a few bytes tell that
// both are the same again, and nothing needs to be looked at byte by byte.

/// Lives in a frame and outlasts its uses. What is remembered is only ever a guess: both sides of it are compared.
struct ExpectedNames {
    private var found: UnsafeMutablePointer<ExpectedName>?
    private(set) var count = 0
    /// Keeps the memory of longer names, so that no other one can take its address.
    private var names: [String] = []

    private static let capacity = 16

    @inline(__always)
    subscript(number: Int) -> UnsafePointer<ExpectedName>? {
        guard number < count, let found else { return nil }
        return UnsafePointer(found + number)
    }

    /// Remembers a name that was found at this number. The text is the name as it is written, with its quotes and the
    /// colon, and no escapes.
    @inline(never)
    mutating func remember(_ name: String, at number: Int, _ text: UnsafeBufferPointer<UInt8>, mark: UInt32) {
        guard number <= count, number < Self.capacity, text.count <= ExpectedName.longest else { return }
        let found = found ?? .allocate(capacity: Self.capacity)
        self.found = found
        found[number] = ExpectedName(name, text, mark)
        if number < count {
            names[number] = name
        } else {
            names.append(name)
            count += 1
        }
    }
}

struct ExpectedName {
    /// What two looks at eight bytes take in.
    static let longest = 16

    /// Of the String that was asked for, which is kept.
    let bits: (UInt64, UInt64)
    let length: Int
    let mark: UInt32
    /// The first eight bytes and the last, or twice the same when there are no more.
    private let text: (UInt64, UInt64)
    private let mask: UInt64
    private let last: Int
    /// How many bytes are looked at.
    private let room: Int

    init(_ name: String, _ written: UnsafeBufferPointer<UInt8>, _ mark: UInt32) {
        bits = bitsOfName(name)
        length = written.count - 3
        self.mark = mark
        last = max(0, written.count - 8)
        room = max(8, written.count)
        text = (Self.eight(written, from: 0), Self.eight(written, from: last))
        mask = written.count >= 8 ? .max : (1 << UInt64(written.count * 8)) - 1
    }

    private static func eight(_ written: UnsafeBufferPointer<UInt8>, from start: Int) -> UInt64 {
        written[start...].prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Whether the name stands at this offset, in quotes and with a colon behind it.
    @inline(__always)
    func stands(at offset: Int, in reader: JSONReader) -> Bool {
        guard offset &+ room <= reader.count else { return false }
        return EightBytes(reader.base, at: offset).word & mask == text.0
            && EightBytes(reader.base, at: offset &+ last).word & mask == text.1
    }
}
