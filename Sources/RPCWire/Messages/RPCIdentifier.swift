// The id of a call as its sender wrote it. Kept apart by type and spelling, so that 0, "0", 2^53 + 1, 1.0, UUIDs and
// null alike go back exactly as they came.

package enum RPCIdentifier: Hashable, Sendable {
    case null
    case integer(Int64)
    /// Any other number, as written.
    case number(String)
    case string(String)
}
