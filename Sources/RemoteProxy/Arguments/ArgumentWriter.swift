// Writes the arguments of a call: one value after another, into a positional JSON array.

package import JSONCodec

/// Writes the arguments of one call, in order. Used by generated code, which writes `try` before each call, although only the
/// generic overload throws.
public struct ArgumentWriter {
    /// Not retained: the caller keeps the output until the arguments are written.
    private let output: Unmanaged<JSONOutput>
    private var isFirst = true

    package init(_ output: JSONOutput) {
        output.append(UInt8(ascii: "["))
        self.output = .passUnretained(output)
    }

    /// Writes the next argument.
    public mutating func write<Value: Encodable>(_ value: Value) throws {
        separate()
        try output._withUnsafeGuaranteedRef { try $0.encode(value) }
    }

    /// Writes the next argument.
    public mutating func write(_ value: Int) throws {
        separate()
        output._withUnsafeGuaranteedRef { $0.append(Int64(value)) }
    }

    /// Writes the next argument.
    public mutating func write(_ value: String) throws {
        separate()
        output._withUnsafeGuaranteedRef { $0.append(quoted: value) }
    }

    @usableFromInline
    package func finish() {
        output._withUnsafeGuaranteedRef { $0.append(UInt8(ascii: "]")) }
    }

    private mutating func separate() {
        if isFirst { isFirst = false } else { output._withUnsafeGuaranteedRef { $0.append(UInt8(ascii: ",")) } }
    }
}
