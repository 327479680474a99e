// Foundation's coders give some of Foundation's own types another form than their `encode(to:)` does. These types are
// known here by name, so that nobody who uses none of them links Foundation.

enum FoundationType {
    case data
    case url
    case decimal

    init?(_ type: Any.Type) {
        switch _typeName(type, qualified: true) {
        case "FoundationEssentials.Data", "Foundation.Data": self = .data
        case "FoundationEssentials.URL", "Foundation.URL": self = .url
        case "FoundationEssentials.Decimal", "Foundation.Decimal", "__C.NSDecimal": self = .decimal
        default: return nil
        }
    }

    func encode(_ value: some Encodable, in frame: EncodingFramePointer) throws {
        switch self {
        case .data: try Base64.encode(value, in: frame)
        case .url: try URLForm.encode(value, in: frame)
        case .decimal: try DecimalForm.encode(value, in: frame)
        }
    }
}

extension FoundationType {
    func decode<Value: Decodable>(_ type: Value.Type, in frame: DecodingFramePointer) throws -> Value {
        switch self {
        case .data: try Base64.decode(type, in: frame)
        case .url: try URLForm.decode(type, in: frame)
        case .decimal: try DecimalForm.decode(type, in: frame)
        }
    }
}
