// How many objects the two ends of a session have of each other, for a program that looks for a leak.

/// How many objects the two ends of a session have of each other by reference. An object that is given and never given back stays
/// alive until the session is over.
public struct ReferenceCounts: Sendable, Hashable {
    /// Objects of this end that the other one has, by the name of their service. A closure is of the service `()`.
    public let given: [String: Int]
    /// Objects of the other end that this one has.
    public let takenCount: Int

    /// Whether neither end has an object of the other.
    public var isEmpty: Bool { given.isEmpty && takenCount == 0 }

    static let none = ReferenceCounts(given: [:], takenCount: 0)
}
