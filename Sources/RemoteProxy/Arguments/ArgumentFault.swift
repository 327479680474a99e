// An error in the arguments of a call. It has the position of a parameter, not its name: making texts is left to
// `explanation(for:)`, which knows the method.

import JSONCodec

enum ArgumentFault: Error {
    /// The `params` are not a list of arguments.
    case parameters(String)
    /// The parameter at this position has no argument.
    case missing(Int)
    /// The argument of the parameter at this position does not fit.
    case wrong(Int, String)
    case tooMany

    /// The text for the caller, with the method's name.
    func explanation(for signature: MethodSignature) -> String {
        switch self {
        case .parameters(let reason):
            return "the params of \(signature.wireName): \(reason)"
        case .missing(let position):
            let list = signature.parameters.map { "\($0.name): \($0.type)" }.joined(separator: ", ")
            return "argument \(name(at: position, in: signature)) of \(signature.wireName)(\(list)) is missing"
        case .wrong(let position, let reason):
            return "argument \(name(at: position, in: signature)) of \(signature.wireName): \(reason)"
        case .tooMany:
            let count = signature.parameters.count
            return "too many arguments: \(signature.wireName) takes \(count == 0 ? "none" : String(count))"
        }
    }

    /// A method that a program has made by hand may read more than it says.
    private func name(at position: Int, in signature: MethodSignature) -> String {
        let parameters = signature.parameters
        return parameters.indices.contains(position) ? "'\(parameters[position].name)'" : "\(position + 1)"
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
