// Value after value of a type writes the same names, and mostly in the same order. So a frame remembers which name it
// wrote at which number, and how that one looks in the text: next time it is there in three steps, and nothing needs to be
// looked at byte by byte.

/// Lives in a frame and outlasts its uses. What is remembered is only ever a guess: the name is compared.
struct WrittenNames {
    private var written: UnsafeMutablePointer<WrittenName>?
    private var count = 0
    /// Keeps the memory of longer names, so that no other one can take its address.
    private var names: [String] = []

    private static let capacity = 16

    @inline(__always)
    subscript(number: Int) -> UnsafePointer<WrittenName>? {
        guard number < count, let written else { return nil }
        return UnsafePointer(written + number)
    }

    /// Remembers a name that was written at this number. The text is the name with its quotes and the colon.
    @inline(never)
    mutating func remember(_ name: String, at number: Int, _ text: UnsafeBufferPointer<UInt8>, mark: UInt32) {
        guard number <= count, number < Self.capacity, text.count <= WrittenName.longest else { return }
        let written = written ?? .allocate(capacity: Self.capacity)
        self.written = written
        written[number] = WrittenName(name, text, mark)
        if number < count {
            names[number] = name
        } else {
            names.append(name)
            count += 1
        }
    }
}

struct WrittenName {
    static let longest = 24

    /// Of the String that was written, which is kept.
    let bits: (UInt64, UInt64)
    /// Of the text, with its quotes and the colon.
    let count: Int
    let mark: UInt32
    private let text: InlineArray<3, UInt64>

    init(_ name: String, _ written: UnsafeBufferPointer<UInt8>, _ mark: UInt32) {
        bits = bitsOfName(name)
        count = written.count
        self.mark = mark
        text = InlineArray { part in
            written.dropFirst(part * 8).prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }
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
