// Writes the arguments of a call: one value after another, into a positional JSON array.

package import JSONCodec

/// Writes the arguments of one call, in order. Used by generated code, which writes `try` before each call, although only the
/// generic overload throws.
public struct _ArgumentWriter {
    /// Nil if the values are only collected. It is not retained, since counting references for each argument costs time. The
    /// caller keeps it until the arguments are written.
    private let output: Unmanaged<JSONOutput>?
    /// The values; nil if they are written.
    private(set) var list: ArgumentList?
    private let context: CodingContext
    private var isFirst = true

    /// - Parameter context: of the message that the arguments are written into.
    package init(_ output: JSONOutput, in context: CodingContext = .none) {
        output.append(UInt8(ascii: "["))
        self.output = .passUnretained(output)
        self.context = context
    }

    /// Collects the values in this list.
    init(_ list: ArgumentList) {
        output = nil
        context = .none
        self.list = list
    }

    /// Writes the next argument. It has to be `Decodable` for the other end. This signature says so, so that the compiler
    /// refuses a type that is not in one place.
    public mutating func write<Value: Codable>(_ value: Value) throws {
        guard let output else { return try list?.append(value) ?? () }
        separate(output)
        try output._withUnsafeGuaranteedRef { try $0.encode(value, in: context) }
    }

    /// Writes the next argument.
    public mutating func write(_ value: Int) throws {
        guard let output else { return list?.append(number: value) ?? () }
        separate(output)
        output._withUnsafeGuaranteedRef { $0.append(Int64(value)) }
    }

    /// Writes the next argument.
    public mutating func write(_ value: String) throws {
        guard let output else { return list?.append(text: value) ?? () }
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
