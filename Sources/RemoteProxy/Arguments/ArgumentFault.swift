// An error in the arguments of a call. It does not name the method, so that the reader of arguments need not know it.
// `explanation(for:)` adds the method.

import JSONCodec

enum ArgumentFault: Error {
    /// The `params` are not a list of arguments.
    case parameters(String)
    case missing(StaticString)
    case wrong(StaticString, String)
    case tooMany

    /// The text for the caller, with the method's name.
    func explanation(for signature: MethodSignature) -> String {
        switch self {
        case .parameters(let reason):
            return "the params of \(signature.wireName): \(reason)"
        case .missing(let name):
            let list = signature.parameters.map { "\($0.name): \($0.type)" }.joined(separator: ", ")
            return "argument '\(name)' of \(signature.wireName)(\(list)) is missing"
        case .wrong(let name, let reason):
            return "argument '\(name)' of \(signature.wireName): \(reason)"
        case .tooMany:
            let count = signature.parameters.count
            return "too many arguments: \(signature.wireName) takes \(count == 0 ? "none" : String(count))"
        }
    }
}

extension DecodingError {
    /// The place in the value, and what was expected there.
    package var explanation: String {
        switch self {
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            locate(context.codingPath) + context.debugDescription
        case .keyNotFound(let key, let context):
            locate(context.codingPath) + "the member '\(key.stringValue)' is missing"
        @unknown default:
            "it does not fit"
        }
    }
}

extension EncodingError {
    /// The place in the value, and why it cannot be written.
    var explanation: String {
        guard case .invalidValue(_, let context) = self else { return "\(self)" }
        return locate(context.codingPath) + context.debugDescription
    }

    /// Whether the value has more levels than a message may have.
    var isTooDeep: Bool {
        guard case .invalidValue(_, let context) = self, let cause = context.underlyingError as? JSONError,
            case .tooDeep = cause.reason
        else { return false }
        return true
    }
}

/// The longest path that is written in full, in steps. In a longer path the number of the middle steps stands for them.
private let longestPath = 32

private func locate(_ path: [any CodingKey]) -> String {
    guard !path.isEmpty else { return "" }
    let leftOut = path.count - longestPath
    guard leftOut > 0 else { return "at \(text(of: path[...])): " }
    let (start, end) = (path.prefix(longestPath / 2), path.suffix(longestPath / 2))
    return "at \(text(of: start))…(\(leftOut) steps)…\(text(of: end)): "
}

private func text(of path: ArraySlice<any CodingKey>) -> String {
    path.map { key in key.intValue.map { "[\($0)]" } ?? ".\(key.stringValue)" }.joined()
}
