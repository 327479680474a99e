// An amount of bytes that changes often and is part of a total: the total is told only of changes that matter to it.

package struct ReportedBytes: Sendable {
    /// A smaller change is reported later. So each part of the total may be wrong by as much.
    private static let grain = 4_096

    private var reported = 0

    package init() {}

    /// Whether nothing of the amount is in the total.
    package var isZero: Bool { reported == 0 }

    /// The amount is this now.
    /// - Returns: the change that the total must be told; nil if it need not be told yet.
    package mutating func change(to bytes: Int) -> Int? {
        let change = bytes &- reported
        guard change.magnitude >= Self.grain || bytes == 0 && change != 0 else { return nil }
        reported = bytes
        return change
    }
}
