// What did not fit, in one line for the peer: Swift's own description of a decoding error is a dump.

extension DecodingError {
    /// Where in the value it was and what was expected there.
    package var explanation: String {
        switch self {
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            Self.locate(context.codingPath) + context.debugDescription
        case .keyNotFound(let key, let context):
            Self.locate(context.codingPath) + "the member '\(key.stringValue)' is missing"
        @unknown default:
            "it does not fit"
        }
    }

    private static func locate(_ path: [any CodingKey]) -> String {
        guard !path.isEmpty else { return "" }
        let steps = path.map { key in key.intValue.map { "[\($0)]" } ?? ".\(key.stringValue)" }
        return "at \(steps.joined()): "
    }
}
