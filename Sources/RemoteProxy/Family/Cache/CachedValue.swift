// One result as a cache holds it: typed as soon as somebody has asked for it, and as JSON for the file.

import JSONCodec
import RPCWire

protocol CachedValue: AnyObject, Sendable {
    var json: Bytes { get }
}

extension CachedValue {
    /// The result, without decoding if it is typed already. Nil when it is no such result.
    func typed<Result: Codable & Sendable>(as type: Result.Type) -> TypedValue<Result>? {
        if let typed = self as? TypedValue<Result> { return typed }
        guard self is UnreadValue else { return nil }
        let value = json.withUnsafeBytes { bytes in try? decodeJSON(Result.self, from: bytes) }
        return value.map { TypedValue($0, json: json) }
    }
}

final class TypedValue<Result: Codable & Sendable>: CachedValue {
    let value: Result
    let json: Bytes

    init(_ value: Result, json: Bytes) {
        self.value = value
        self.json = json
    }

    /// What an object has just returned. Throws when it cannot be put into JSON.
    convenience init(_ value: Result) throws {
        let output = JSONOutput()
        try output.encode(value)
        self.init(value, json: Bytes(copying: output.bytes))
    }
}

/// From a file; nobody has asked for it yet.
final class UnreadValue: CachedValue {
    let json: Bytes

    init(json: Bytes) { self.json = json }
}
