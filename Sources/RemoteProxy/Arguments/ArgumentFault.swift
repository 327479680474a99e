// What is wrong with the arguments of a call, before it is known which method they were for: the reader of every call need
// not carry that along.

enum ArgumentFault: Error {
    /// The whole of it is not a list of arguments.
    case parameters(String)
    case missing(StaticString)
    case wrong(StaticString, String)
    case tooMany

    /// In words for the caller.
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
