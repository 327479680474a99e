// Tells whether the arguments of two calls are the same, for a cache that finds results by them.

import JSONCodec

/// The arguments of one call as values that can be compared and hashed: by `==` where their type has it, otherwise by their JSON.
///
/// `@unchecked Sendable`: arguments are, and `AnyHashable` hides it.
struct ArgumentValues: Hashable, @unchecked Sendable {
    private var values: [AnyHashable] = []

    /// Nil if the arguments differ from all others, and from themselves: one is not equal to itself, such as NaN, or can neither
    /// be compared nor be written as JSON.
    init?<Arguments>(_ arguments: Arguments, _ coding: ArgumentCoding<Arguments>) {
        if Arguments.self == Void.self { return }
        let list = ArgumentList()
        var writer = ArgumentWriter(list)
        do { try coding.write(arguments, &writer) } catch { return nil }
        // One by one: the comparison of an array with itself looks at no element.
        guard list.values.allSatisfy({ $0 == $0 }) else { return nil }
        values = list.values
    }
}

/// Collects values in place of writing them.
final class ArgumentList {
    fileprivate(set) var values: [AnyHashable] = []

    func append(_ value: some Encodable) throws {
        if let value = value as? any Hashable { return values.append(AnyHashable(value)) }
        let output = JSONOutput()
        try output.encode(value)
        values.append(try CanonicalJSON.text(of: output.bytes))
    }

    /// For the commonest types, whose conformance need not be looked up.
    func append(hashable value: some Hashable) { values.append(AnyHashable(value)) }
}
