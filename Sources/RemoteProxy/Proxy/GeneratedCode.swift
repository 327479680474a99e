// The border between the compiler plugin and the library. The code that `@Service` writes calls only the declarations in this
// file and these: the conformances to `ServiceProxy` and `ServiceMethodName`, the initialisers of `Method`, `Post`, `_MethodTable`
// (of `_ServiceMethod`s), `_InheritedMethods`, `_ServiceDescription`, `_ArgumentCoding`, `_WeakSubject` and `_ObjectIsGone`, the
// cases of `MethodSignature.Effect`, `_ArgumentReader.next`, `_ArgumentWriter.write`, `Subject`, `_call` and `_post` of `Method`
// and `Post`, `ServiceProxy._inherit`, `Reference`, `_ResultCoding`, `_ClosureShape` and `_ClosureProxy`. A change to any of these
// changes the plugin's expansion tests in the same commit.
//
// `Method._call` is inlined into the generated code, with `_RemoteCall.perform` and the wait.

/// The result of a method that returns none: `null` on the wire.
public struct _NoResult: Codable, Sendable, Hashable {
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
