// What the functions of CText find, and what they write, is what one would find byte by byte: wherever in a block it stands,
// with the instructions of this processor and without.

import CPortableText
import CText
import Foundation
import TestSupport
import Testing

/// One way to do what `CText.h` says.
private struct TextFunctions: Sendable {
    let name: String
    let pass: @Sendable (UnsafePointer<UInt8>?, Int, text_scan) -> text_scan
    let validUTF8: @Sendable (UnsafePointer<UInt8>?, Int) -> Int
    let unescape: @Sendable (UnsafePointer<UInt8>?, Int, UnsafeMutablePointer<UInt8>?) -> Int
    let escape:
        @Sendable (UnsafePointer<UInt8>?, Int, UnsafeMutablePointer<Int>?, UnsafeMutablePointer<UInt8>?, Int) -> Int

    static let all = [
        TextFunctions(
            name: "this processor", pass: text_pass, validUTF8: text_valid_utf8, unescape: text_unescape,
            escape: text_escape),
        TextFunctions(
            name: "any processor", pass: portable_pass, validUTF8: portable_valid_utf8, unescape: portable_unescape,
            escape: portable_escape),
    ]

    /// Each text is in memory of its own size, so that AddressSanitizer sees a read beyond it.
    private static func inOwnMemory<Result>(
        _ text: [UInt8], _ body: (UnsafePointer<UInt8>) throws -> Result
    ) rethrows -> Result {
        let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: text.count)
        defer { memory.deallocate() }
        memory.initialize(from: text, count: text.count)
        return try body(memory)
    }

    func pass(_ text: [UInt8]) -> text_scan {
        Self.inOwnMemory(text) { pass($0, text.count, text_scan(at: 0, has_escapes: false, has_others: false)) }
    }

    func validUTF8(_ text: [UInt8]) -> Int { Self.inOwnMemory(text) { validUTF8($0, text.count) } }

    func unescaped(_ text: [UInt8]) -> [UInt8] {
        Self.inOwnMemory(text) { base in
            let target = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: text.count)
            defer { target.deallocate() }
            return Array(target.prefix(unescape(base, text.count, target.baseAddress)))
        }
    }

    /// - Parameter room: how much the target has each time.
    func escaped(_ text: [UInt8], room: Int) -> [UInt8] {
        Self.inOwnMemory(text) { base in
            let target = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: room)
            defer { target.deallocate() }
            var (at, written) = (0, [UInt8]())
            while at < text.count { written += target.prefix(escape(base, text.count, &at, target.baseAddress, room)) }
            return written
        }
    }
}

@Suite struct `Long text` {
    // MARK: Byte by byte

    private static let names: [UInt8: UInt8] = [
        0x22: 0x22, 0x5C: 0x5C, 0x2F: 0x2F, 0x62: 8, 0x66: 12, 0x6E: 10, 0x72: 13, 0x74: 9,
    ]

    /// The unit that is spelled as `\uXXXX` at the beginning of a text.
    private static func unit(_ text: ArraySlice<UInt8>) -> UInt16? {
        guard text.count >= 6, text.starts(with: [0x5C, 0x75]) else { return nil }
        let digits = text.dropFirst(2).prefix(4)
        guard digits.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }) else { return nil }
        return UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
    }

    /// The character at the beginning of a text, and how many bytes spell it.
    private static func character(_ text: ArraySlice<UInt8>) -> (bytes: [UInt8], length: Int)? {
        guard let first = text.first else { return nil }
        guard first == 0x5C else { return first < 0x20 || first == 0x22 ? nil : ([first], 1) }
        if let name = text.dropFirst().first.flatMap({ names[$0] }) { return ([name], 2) }
        guard let unit = unit(text) else { return nil }
        if let scalar = UnicodeScalar(unit) { return (Array(String(scalar).utf8), 6) }
        guard let low = Self.unit(text.dropFirst(6)), UTF16.isLeadSurrogate(unit), UTF16.isTrailSurrogate(low)
        else { return nil }
        return (Array(String(decoding: [unit, low], as: UTF16.self).utf8), 12)
    }

    /// What is passed over of a text, and what it means.
    private static func read(_ text: [UInt8]) -> (end: Int, meaning: [UInt8]) {
        var (at, meaning) = (0, [UInt8]())
        while let (bytes, length) = character(text[at...]) {
            at += length
            meaning += bytes
        }
        return (at, meaning)
    }

    private static func escaped(_ text: [UInt8]) -> [UInt8] {
        text.flatMap { byte -> [UInt8] in
            if byte == 0x2F { return [byte] }
            if let name = names.first(where: { $0.value == byte }) { return [0x5C, name.key] }
            return byte < 0x20 ? Array("\\u00\(byte < 16 ? "0" : "")\(String(byte, radix: 16))".utf8) : [byte]
        }
    }

    /// As the standard library sees it.
    private static func validUTF8(_ text: [UInt8]) -> Int {
        do throws(UTF8.ValidationError) {
            _ = try UTF8Span(validating: text.span)
            return text.count
        } catch {
            return error.byteOffsets.lowerBound
        }
    }

    private static func judge(_ text: [UInt8], _ functions: TextFunctions) {
        func differs(_ what: String) { Issue.record("\(functions.name): \(what) of \(text)") }
        let (end, meaning) = read(text)
        let scan = functions.pass(text)
        let passed = Array(text.prefix(end))
        if scan.at != end || scan.has_others != passed.contains(where: { $0 >= 0x80 })
            || scan.has_escapes != passed.contains(0x5C)
        {
            differs("\(scan) instead of \(end)")
        }
        if functions.unescaped(passed) != meaning { differs("the meaning") }
        let room = Int(TEXT_ROOM) + text.count % 7
        if functions.escaped(text, room: room) != escaped(text) { differs("the escapes") }
        if functions.validUTF8(text) != validUTF8(text) { differs("UTF-8") }
    }

    // MARK: Tests

    private static let pieces: [[UInt8]] =
        [
            "a", "word ", "a longer run of letters", "é", "ß", "漢", "字", "😀", "\u{7FF}\u{800}\u{FFFF}\u{10FFFF}",
            "\u{D7FF}\u{E000}", "/",
        ]
        .map { Array($0.utf8) }
    /// Rarer, so that whole blocks come about without them.
    private static let marks: [[UInt8]] =
        [#"\n"#, #"\""#, #"\\"#, #"\/"#, #"\u00e9"#, #"\uD83D\uDE00"#, #"\u0000"#, #"\uFFFF"#, #"\bf"#].map {
            Array($0.utf8)
        }
    private static let faults: [[UInt8]] =
        [
            [0x22], [0x5C], [0x0A], [0x00], [0x1F], [0x7F], [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC2],
            [0xE0, 0x9F, 0xBF],
            [0xE0, 0xA0], [0xED, 0xA0, 0x80], [0xED, 0x9F], [0xF0, 0x8F, 0xBF, 0xBF], [0xF0, 0x90, 0x80],
            [0xF4, 0x90, 0x80, 0x80],
            [0xF5, 0x80, 0x80, 0x80], [0xFF], [0xE4, 0xB8],
        ] + [#"\u12G4"#, #"\uD83D"#, #"\uDE00\uD83D"#, #"\uD83D\n"#, #"\x"#, #"\u123"#].map { Array($0.utf8) }

    @Test(arguments: 0..<2)
    func `every fault and every escape is found at every place of a block`(way: Int) {
        let functions = TextFunctions.all[way]
        for filler in ["a", "é", "字", "😀"].map({ Array($0.utf8) }) {
            for part in Self.marks + Self.faults + Self.pieces {
                for before in 0..<36 {
                    let start = Array(repeatElement(filler, count: 40).joined().prefix(before))
                    for behind in [0, 20] {
                        Self.judge(start + part + Array(repeatElement(filler, count: behind).joined()), functions)
                    }
                }
            }
        }
    }

    @Test(arguments: 0..<2, 0..<4 as Range<UInt64>)
    func `texts of many kinds are passed, checked, read and written as byte by byte`(way: Int, seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<800 {
            var text: [UInt8] = []
            let (markChance, faultChance) = (
                Int.random(in: 1...40, using: &random), Int.random(in: 1...400, using: &random)
            )
            for _ in 0..<Int.random(in: 0...60, using: &random) {
                let isMark = Int.random(in: 0..<markChance, using: &random) == 0
                let isFault = Int.random(in: 0..<faultChance, using: &random) == 0
                text += (isFault ? Self.faults : isMark ? Self.marks : Self.pieces).randomElement(using: &random) ?? []
            }
            Self.judge(text, TextFunctions.all[way])
        }
    }

    @Test(arguments: 0..<2) func `nothing is found in no text`(way: Int) {
        Self.judge([], TextFunctions.all[way])
    }
}
