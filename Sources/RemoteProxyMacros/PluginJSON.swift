// The seam to JSON: everything else in the plugin sees Codable values.

private import Foundation

/// Values ⇄ JSON bytes.
enum PluginJSON {
    static func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) -> Value? {
        try? JSONDecoder().decode(type, from: Data(bytes))
    }

    static func encode(_ value: some Encodable) -> [UInt8] {
        (try? JSONEncoder().encode(value)).map { [UInt8]($0) } ?? []
    }
}
