// The key and value pairs that a program adds to its calls: how far each value goes, and whether it may be shown.

import RPCWire

/// A value of the metadata of calls: a plain text, or a secret.
///
/// A string literal is a plain text that goes as far as the call and the calls made for it.
public struct MetadataValue: Sendable, Hashable {
    /// How far a value travels.
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

/// Adds key and value pairs to the metadata of all remote calls and posts made in `body`. Of two values of one key the inner
/// one holds.
///
/// Metadata is for what concerns a call and is no argument of it, such as a tenant or the `traceparent` of a trace:
///
/// ```swift
/// try await withMetadata(["tenant": "acme", "authorization": .secret("Bearer …", reach: .nextEnd)]) {
///     try await calculator.add(2, 3)
/// }
/// ```
///
/// It travels to ends that run this library, and to no others. The subject reads it as ``Caller/metadata``. It also travels on
/// with the calls and posts that the subject makes while it serves the call, to any service that the other end calls, and traces
/// show it. A ``MetadataValue`` can be secret, and can go to the next end only.
///
/// - Throws: what `body` throws. `RPCError` with the code `.invalidArguments` and the outcome `.notExecuted`, before `body` runs,
///   when a key is not ASCII or begins with `#` or `-`, or when there would be more than 16 keys, or more than 4 KiB of keys and
///   values together, with those that the calling task passes on already. A secret takes a byte more, and so does a reach of
///   `.nextEnd`.
public func withMetadata<Result>(
    _ entries: [String: MetadataValue], _ body: () async throws -> Result
) async throws -> Result {
    var scope = CallScope.current ?? CallScope()
    let limits = Limits()
    let all = (scope.metadata?.values ?? [:]).merging(entries.mapValues(\.value)) { $1 }
    do throws(MetadataFault) {
        scope.metadata = try CallMetadata(
            all, mostEntries: limits.maximumMetadataEntries, mostBytes: limits.maximumMetadataBytes)
    } catch {
        throw RPCError(
            .invalidArguments, "withMetadata: \(limits.explanation(of: error))", outcome: .notExecuted)
    }
    return try await scope.entered(body)
}
