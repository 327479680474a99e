// What results are told apart by: the method and the arguments it was called with.

struct CacheKey: Sendable {
    /// Where it stands in the list of methods that are cached.
    let method: Int
    let arguments: any MethodArguments

    /// The place of a result in a table. Two keys may have the same, though hardly ever.
    static func place(_ method: Int, _ arguments: some MethodArguments) -> Int {
        var hasher = Hasher()
        hasher.combine(method)
        hasher.combine(arguments)
        return hasher.finalize()
    }

    var place: Int { Self.place(method, arguments) }
}

extension CacheKey: Hashable {
    static func == (one: CacheKey, other: CacheKey) -> Bool { one.method == other.method && one.has(other.arguments) }

    func hash(into hasher: inout Hasher) {
        hasher.combine(method)
        hasher.combine(arguments)
    }

    private func has<Arguments: MethodArguments>(_ arguments: Arguments) -> Bool {
        self.arguments as? Arguments == arguments
    }
}
