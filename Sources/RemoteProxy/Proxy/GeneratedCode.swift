// The border between the compiler plugin and the library: what `@Service` writes calls only what stands here, plus
// `ArgumentComparison`, the conformances to `ServiceProxy` and `ServiceMethodName`, the initialisers of `Method`, `Post`,
// `MethodTable` (of `ServiceMethod`s), `ServiceDescription`, `MethodSignature.Parameter`, `WeakSubject`, the cases of
// `MethodSignature.Effect`, and `Subject._call` and `.post`. Changing any of these changes the plugin's expansion tests in
// the same commit.
//
// The initialisers of `Method` and `Post` are inlined there and bring what answers a call: `_IncomingCall`. So is
// `Subject._call`, which brings what makes one: `_RemoteCall`.

/// The arguments of one method as a value. Generated, one struct per method. Two are equal when `ArgumentComparison` says
/// so of each argument.
public protocol MethodArguments: Hashable, Sendable {
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

    /// Accepts any value: foreign peers answer "done" in different ways.
    public init(from decoder: any Decoder) {}

    /// Writes `null`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encodeNil()
    }
}

/// Written by `@Service` on the proxies of protocols that are neither public nor package: adds a second conformer, which
/// keeps the optimiser of release builds from taking the only one it sees for every value of the protocol.
@attached(extension, names: named(OtherConformer))
public macro _OtherConformer() = #externalMacro(module: "RemoteProxyPlugin", type: "OtherConformerMacro")
