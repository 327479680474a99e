// Tells whether the arguments of two calls are the same, for a cache that finds results by them.

import JSONCodec

/// The arguments of one call as values that can be compared and hashed: by `==` where their type has it, otherwise by their JSON.
///
/// `@unchecked Sendable`: arguments are, and `AnyHashable` hides it.
struct ArgumentValues: Hashable, @unchecked Sendable {
    /// The commonest types stand for themselves, since a hash of `AnyHashable` takes much longer.
    fileprivate enum Value: Hashable {
        case number(Int)
        case text(String)
        indirect case other(AnyHashable)
    }

    private var values: [Value] = []

    /// Nil if the arguments differ from all others, and from themselves: one is not equal to itself, such as NaN, or can neither
    /// be compared nor be written as JSON.
    /// - Parameter method: the name of the method if a peer has sent the arguments. Refuses texts that are costly to compare then.
    init?<Arguments>(
        _ arguments: Arguments, _ coding: _ArgumentCoding<Arguments>, sentFor method: String? = nil
    ) throws(RPCError) {
        if Arguments.self == Void.self { return }
        var writer = _ArgumentWriter(ArgumentList(checksTexts: method != nil))
        do { try coding.write(arguments, &writer) } catch { return nil }
        guard let list = writer.list else { return nil }
        if let method, list.hasCostlyText {
            throw RPCError(
                .invalidArguments, "an argument of \(method): \(CombiningMarks.reason)", outcome: .notExecuted)
        }
        guard list.areEqualToThemselves else { return nil }
        values = list.values
    }
}

/// Collects values in place of writing them.
struct ArgumentList {
    fileprivate var values: [ArgumentValues.Value] = []
    private let checksTexts: Bool
    /// False if one of the values is not, such as NaN.
    fileprivate private(set) var areEqualToThemselves = true
    /// Whether a text, alone or inside a value, has too many combining marks.
    fileprivate private(set) var hasCostlyText = false

    init(checksTexts: Bool) {
        self.checksTexts = checksTexts
        // Enough for most methods.
        values.reserveCapacity(3)
    }

    mutating func append(_ value: some Encodable) throws {
        let hashable = value as? any Hashable
        if let hashable, !checksTexts { return append(AnyHashable(hashable)) }
        let output = JSONOutput()
        try output.encode(value)
        check(String(decoding: output.bytes, as: UTF8.self))
        if let hashable { return append(AnyHashable(hashable)) }
        values.append(.text(try CanonicalJSON.text(of: output.bytes)))
    }

    private mutating func append(_ value: AnyHashable) {
        if value != value { areEqualToThemselves = false }
        values.append(.other(value))
    }

    // For the commonest types, whose conformance need not be looked up.

    mutating func append(number value: Int) { values.append(.number(value)) }

    mutating func append(text value: String) {
        check(value)
        values.append(.text(value))
    }

    private mutating func check(_ text: String) {
        if checksTexts, CombiningMarks.areTooMany(in: text) { hasCostlyText = true }
    }
}
