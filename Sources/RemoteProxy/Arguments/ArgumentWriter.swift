// Writes the arguments of a call: one value after another, into a positional JSON array.

package import JSONCodec

/// Writes the arguments of one call, in order. Used by generated code, which writes `try` before each call, although only the
/// generic overload throws.
public struct _ArgumentWriter {
    // Neither is retained, since counting references for each argument costs time. The caller keeps both until the arguments are
    // written.
    /// Nil if the values are only collected.
    private let output: Unmanaged<JSONOutput>?
    private let list: Unmanaged<ArgumentList>?
    private let context: CodingContext
    private var isFirst = true

    /// - Parameter context: of the message that the arguments are written into.
    package init(_ output: JSONOutput, in context: CodingContext = .none) {
        output.append(UInt8(ascii: "["))
        self.output = .passUnretained(output)
        self.context = context
        list = nil
    }

    /// Collects the values in a list.
    init(_ list: ArgumentList) {
        output = nil
        context = .none
        self.list = .passUnretained(list)
    }

    /// Writes the next argument. It has to be `Decodable` for the other end. This signature says so, so that the compiler
    /// refuses a type that is not in one place.
    public mutating func write<Value: Codable>(_ value: Value) throws {
        guard let output else { return try list?._withUnsafeGuaranteedRef { try $0.append(value) } ?? () }
        separate(output)
        try output._withUnsafeGuaranteedRef { try $0.encode(value, in: context) }
    }

    /// Writes the next argument.
    public mutating func write(_ value: Int) throws {
        guard let output else { return list?._withUnsafeGuaranteedRef { $0.append(number: value) } ?? () }
        separate(output)
        output._withUnsafeGuaranteedRef { $0.append(Int64(value)) }
    }

    /// Writes the next argument.
    public mutating func write(_ value: String) throws {
        guard let output else { return list?._withUnsafeGuaranteedRef { $0.append(text: value) } ?? () }
        separate(output)
        output._withUnsafeGuaranteedRef { $0.append(quoted: value) }
    }

    func writeEnd() {
        output?._withUnsafeGuaranteedRef { $0.append(UInt8(ascii: "]")) }
    }

    private mutating func separate(_ output: Unmanaged<JSONOutput>) {
        if isFirst { isFirst = false } else { output._withUnsafeGuaranteedRef { $0.append(UInt8(ascii: ",")) } }
    }
}
