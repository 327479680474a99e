// Frames that begin with headers: `Content-Length`, a blank line, then that many bytes.

struct HeaderFramer: Framer {
    /// What the header lines of the next frame have said so far.
    private var block = HeaderBlock()
    /// The offset at which the next line begins, or the body.
    private var lineStart = 0
    /// The first `known` bytes have been searched for a line feed.
    private var known = 0
    /// Nil until the headers are complete.
    private var bodyLength: Int?

    mutating func next(in unread: inout UnreadBytes, limits: FrameLimits) throws(FramingError) -> Frame? {
        while bodyLength == nil {
            guard try readLine(of: &unread, limits) else { return nil }
        }
        guard let bodyLength, unread.has(lineStart + bodyLength) else { return nil }
        let header = lineStart
        self = HeaderFramer()
        return .message(unread.take(bodyLength, behind: header))
    }

    /// Reads one header line.
    /// - Returns: false when the end of the line has not come.
    private mutating func readLine(of unread: inout UnreadBytes, _ limits: FrameLimits) throws(FramingError) -> Bool {
        let limit = limits.maximumHeaderBlock
        let end = unread.lineFeed(from: known, of: limit)
        // The line feed counts too. A line without any byte so far cannot be over the limit.
        guard (end ?? unread.count) < limit || unread.count == lineStart else {
            throw .headerBlockTooLarge(limit: limit)
        }
        guard let end else {
            known = unread.count
            return false
        }
        let line = UnsafeRawBufferPointer(rebasing: unread.front[lineStart..<end])
        guard line.last == UInt8(ascii: "\r") else { throw .header(.noCarriageReturn) }
        if line.count == 1 {
            guard let length = block.contentLength else { throw .header(.noContentLength) }
            bodyLength = length
        } else {
            try block.read(UnsafeRawBufferPointer(rebasing: line.dropLast()), limits: limits)
        }
        (lineStart, known) = (end + 1, end + 1)
        return true
    }

    func write(_ message: OutgoingMessage, into buffer: inout SendBuffer, isFirst: Bool) {
        var header = "Content-Length: \(message.count)\r\n\r\n"
        header.withUTF8 { buffer.append(UnsafeRawBufferPointer($0)) }
        switch message {
        case .copied(let bytes): buffer.append(bytes)
        case .shared(let bytes): buffer.append(shared: bytes)
        }
    }
}

/// The headers of one frame: takes their lines, and tells the length that they announce. Strict on purpose: a web page that has
/// reached this port through a rebound host name chooses the request line, and its browser adds a valid Content-Length.
private struct HeaderBlock: Sendable {
    private(set) var contentLength: Int?
    private var lines = 0

    /// Reads one line, given without its CR LF.
    mutating func read(_ line: UnsafeRawBufferPointer, limits: FrameLimits) throws(FramingError) {
        lines += 1
        guard lines <= limits.maximumHeaderLines else {
            throw .tooManyHeaderLines(limit: limits.maximumHeaderLines)
        }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else {
            throw Self.isRequestLine(line) ? .http : .header(.noColon)
        }
        let name = UnsafeRawBufferPointer(rebasing: line[..<colon])
        guard !name.isEmpty, name.allSatisfy(Self.isTokenCharacter) else {
            throw Self.isRequestLine(line) ? .http : .header(.name)
        }
        let value = line[(colon + 1)...]
        guard value.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == UInt8(ascii: "\t") }) else {
            throw .header(.controlCharacter)
        }
        if Self.equal(name, "content-length") {
            try readLength(value, limits: limits)
        } else if !Self.equal(name, "content-type") {
            throw .header(.unknownField)
        }
    }

    private mutating func readLength(_ value: Slice<UnsafeRawBufferPointer>, limits: FrameLimits) throws(FramingError) {
        guard contentLength == nil else { throw .header(.repeatedContentLength) }
        let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        var digits = value.drop(while: isBlank)
        while let last = digits.last, isBlank(last) { digits.removeLast() }
        guard (1...10).contains(digits.count) else { throw .header(.contentLength) }
        var length: Int64 = 0
        for byte in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { throw .header(.contentLength) }
            // Ten digits always fit.
            length = length * 10 + Int64(byte - UInt8(ascii: "0"))
        }
        contentLength = try limits.checked(Int(clamping: length))
    }

    private static func isRequestLine(_ line: UnsafeRawBufferPointer) -> Bool {
        line.suffix(8).starts(with: "HTTP/".utf8)
    }

    private static func equal(_ name: UnsafeRawBufferPointer, _ lowercase: StaticString) -> Bool {
        guard name.count == lowercase.utf8CodeUnitCount else { return false }
        return zip(name, UnsafeBufferPointer(start: lowercase.utf8Start, count: name.count)).allSatisfy { pair in
            pair.0 == pair.1 || (pair.0 | 0x20 == pair.1 && isLetter(pair.0))
        }
    }

    private static func isTokenCharacter(_ byte: UInt8) -> Bool {
        isLetter(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
}

/// Whether a byte is a letter A to Z, in either case.
func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
}
