// The types of Foundation that its coders write in another form than `encode(to:)` does. They are recognised by their names
// here, so that programs without them do not link Foundation.

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
}
