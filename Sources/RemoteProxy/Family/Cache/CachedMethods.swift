// Which methods a cache is for.

enum CachedMethods: Sendable {
    case named([String])

    func contain(_ signature: MethodSignature) -> Bool {
        switch self {
        case .named(let names): names.contains(signature.name)
        }
    }
}
