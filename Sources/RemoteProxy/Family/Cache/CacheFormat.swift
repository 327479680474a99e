// Results as the bytes of a file and back. The first line says what the file is and which version of it; a checksum of
// all that follows; then one record after another, numbers big-endian, texts and JSON behind their lengths.

import RPCWire

enum CacheFormat {
    /// Why a file's contents are not used.
    enum Fault: Error, Equatable, CustomStringConvertible {
        case foreign
        case version(String)
        case damaged

        var description: String {
            switch self {
            case .foreign: "it is not a cache"
            case .version(let version): "it is a cache of version \(version), and this program reads version 1"
            case .damaged: "it is damaged"
            }
        }
    }

    private static let name = "RemoteProxy cache "
    private static let head = Array("\(name)1\n".utf8)
    private static let headLength = head.count + 8

    static func encode(_ records: some Collection<CacheRecord>) -> [UInt8] {
        var body: [UInt8] = []
        body.reserveCapacity(records.reduce(0) { $0 + $1.size + 64 })
        for record in records {
            append(UInt64(bitPattern: record.written), to: &body)
            append(UInt64(bitPattern: record.used), to: &body)
            for text in [record.key.service, record.key.method, record.key.arguments] {
                append(UInt64(text.utf8.count), to: &body)
                body.append(contentsOf: text.utf8)
            }
            append(UInt64(record.json.count), to: &body)
            record.json.withUnsafeBytes { body.append(contentsOf: $0) }
        }
        var file = head
        append(checksum(of: body), to: &file)
        return file + body
    }

    static func decode(_ file: [UInt8]) throws(Fault) -> [CacheRecord] {
        // A file that was made and never written to.
        if file.isEmpty { return [] }
        try checkHead(of: file)
        guard let sum = fingerprint(of: file) else { throw .damaged }
        let body = file[headLength...]
        guard checksum(of: body) == sum else { throw .damaged }
        var scan = ByteScan(rest: body)
        var records: [CacheRecord] = []
        while !scan.rest.isEmpty {
            guard let record = scan.record() else { throw .damaged }
            records.append(record)
        }
        return records
    }

    /// Tells the contents of one file from those of another without reading them all.
    static func fingerprint(of file: [UInt8]) -> UInt64? {
        guard file.count >= headLength else { return nil }
        return file[head.count..<headLength].reduce(0) { $0 << 8 | UInt64($1) }
    }

    private static func checkHead(of file: [UInt8]) throws(Fault) {
        if file.starts(with: head) { return }
        let line = file.prefix(64).prefix { $0 != UInt8(ascii: "\n") }
        guard line.starts(with: name.utf8) else { throw .foreign }
        throw .version(String(decoding: line.dropFirst(name.utf8.count), as: UTF8.self))
    }

    private static func append(_ number: UInt64, to bytes: inout [UInt8]) {
        for shift in stride(from: 56, through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
    }

    /// FNV-1a: against accidents, not against forgers, who could as well write a file that is right.
    private static func checksum(of bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}

/// The part of a file that has not been read yet.
private struct ByteScan {
    var rest: ArraySlice<UInt8>

    mutating func record() -> CacheRecord? {
        guard let written = number(), let used = number(), let service = text(), let method = text(),
            let arguments = text(), let json = bytes()
        else { return nil }
        return CacheRecord(
            key: CacheRecord.Key(service: service, method: method, arguments: arguments),
            json: json.withUnsafeBytes { Bytes(copying: $0) },
            written: Int64(bitPattern: written), used: Int64(bitPattern: used))
    }

    private mutating func text() -> String? { bytes().map { String(decoding: $0, as: UTF8.self) } }

    private mutating func bytes() -> ArraySlice<UInt8>? {
        guard let length = number(), length <= UInt64(rest.count) else { return nil }
        defer { rest = rest.dropFirst(Int(length)) }
        return rest.prefix(Int(length))
    }

    private mutating func number() -> UInt64? {
        guard rest.count >= 8 else { return nil }
        defer { rest = rest.dropFirst(8) }
        return rest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
