// The key and value pairs that a program adds to its calls: how far each value goes, and whether it may be shown.

import RPCWire

/// A value of the metadata of calls: a plain text, or a secret.
///
/// A string literal is a plain text that goes as far as the call and the calls made for it.
public struct MetadataValue: Sendable, Hashable {
    /// How far a value travels. There may be more reaches later.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Reach: Sendable, Hashable {
        /// Only to the end that the program calls. An end that runs the first release of this library would pass the value on,
        /// so it does not get it.
        case nextEnd
        /// On with the calls that the subject makes.
        case allEnds
    }

    fileprivate var value: CallMetadata.Value

    /// A text that traces may show.
    public init(_ text: String, reach: Reach = .allEnds) { value = .init(text, isForNextEnd: reach == .nextEnd) }

    /// A text that traces and log records show as `…`, at each end that it reaches.
    public static func secret(_ text: String, reach: Reach) -> MetadataValue {
        var secret = MetadataValue(text, reach: reach)
        secret.value.isSecret = true
        return secret
    }
}

extension MetadataValue: ExpressibleByStringInterpolation, CustomStringConvertible {
    /// A plain text.
    public init(stringLiteral text: String) { self.init(text) }

    /// The text; `…` for a secret.
    public var description: String { value.isSecret ? "…" : value.text }
}

/// Key and value pairs that travel with calls. A dictionary literal makes one:
///
/// ```swift
/// let metadata: Metadata = ["tenant": "acme", "authorization": .secret("Bearer …", reach: .nextEnd)]
/// ```
///
/// A call may have 16 keys, and 4 KiB of keys and values together. A secret takes a byte more, and so does a reach of `.nextEnd`.
public struct Metadata: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    fileprivate let values: [String: CallMetadata.Value]

    /// Checks the pairs and takes them.
    /// - Throws: `RPCError` with the code `.invalidArguments`, when a key is not ASCII or begins with `#` or `-`, or when there is
    ///   more than a call may have.
    public init(_ values: [String: MetadataValue]) throws(RPCError) {
        let limits = Limits()
        self.values = values.mapValues(\.value)
        do throws(MetadataFault) {
            _ = try CallMetadata(
                self.values, mostEntries: limits.maximumMetadataEntries, mostBytes: limits.maximumMetadataBytes)
        } catch {
            throw RPCError(.invalidArguments, limits.explanation(of: error), outcome: .notExecuted)
        }
    }

    /// The pairs of a literal; of equal keys the last holds. Keys are ASCII and begin with neither `#` nor `-`. A call with other
    /// keys, or with more than it may have, is refused by the end that gets it.
    public init(dictionaryLiteral pairs: (String, MetadataValue)...) {
        values = Dictionary(pairs.map { ($0, $1.value) }) { $1 }
    }
}

/// Adds pairs to the metadata of all remote calls and posts made in `body`. Of two values of one key the inner one holds.
///
/// Metadata is for what concerns a call and is no argument of it, such as a tenant or the `traceparent` of a trace:
///
/// ```swift
/// try await withCallMetadata(["tenant": "acme", "authorization": .secret("Bearer …", reach: .nextEnd)]) {
///     try await calculator.add(2, 3)
/// }
/// ```
///
/// It travels to ends that run this library, and to no others. The subject reads it as ``Caller/metadata``. It also travels on
/// with the calls and posts that the subject makes while it serves the call, to any service that the other end calls, and traces
/// show it. A ``MetadataValue`` can be secret, and can go to the next end only.
///
/// A call that has more than may travel, with the pairs that the calling task passes on already, throws `RPCError` with the code
/// `.invalidRequest` and the outcome `.notExecuted`.
/// - Throws: what `body` throws.
public func withCallMetadata<Result, Failure>(
    _ metadata: Metadata, _ body: () async throws(Failure) -> Result
) async throws(Failure) -> Result {
    var scope = CallScope.current ?? CallScope()
    scope.metadata = CallMetadata((scope.metadata?.values ?? [:]).merging(metadata.values) { $1 })
    return try await scope.enteredByUser(body)
}
