// The border between the compiler plugin and the library. The code that `@Service` writes calls only the declarations in this
// file and these: the conformances to `ServiceProxy` and `ServiceMethodName`, the initialisers of `Method`, `Post`, `MethodTable`
// (of `ServiceMethod`s), `InheritedMethods`, `ServiceDescription`, `MethodSignature.Parameter` and `WeakSubject`, the cases of
// `MethodSignature.Effect`, `Subject`, `_call` and `_post` of `Method` and `Post`, and `ServiceProxy._inherit`. A change to any of these
// changes the plugin's expansion tests in the same commit.
//
// `Method._call` is inlined into the generated code, with `_RemoteCall`, which makes a call.

/// The arguments of one method as a value: a generated struct for each method.
public protocol MethodArguments: Sendable {
    /// Reads the arguments in the order of declaration.
    init(from reader: inout ArgumentReader) throws
    /// Writes the arguments in the order of declaration.
    func write(to writer: inout ArgumentWriter) throws
}

/// The arguments of a method that takes none.
public struct NoArguments: MethodArguments {
    /// Made by generated code.
    public init() {}
    /// Reads nothing.
    public init(from reader: inout ArgumentReader) {}
    /// Writes nothing.
    public func write(to writer: inout ArgumentWriter) {}
}

/// The result of a method that returns none: `null` on the wire.
public struct NoResult: Codable, Sendable, Hashable {
    /// Made by generated code.
    public init() {}

    /// Accepts any value, because foreign peers answer "done" in different ways.
    public init(from decoder: any Decoder) {}

    /// Writes `null`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encodeNil()
    }
}

/// Adds a second conformer to a protocol that is neither public nor package; `@Service` writes it on the proxy. With only one
/// conformer, the optimiser of release builds would take it for every value of the protocol.
@attached(extension, names: named(OtherConformer))
public macro _OtherConformer() = #externalMacro(module: "RemoteProxyPlugin", type: "OtherConformerMacro")
