// How many objects the two ends of a session have of each other, for a program that looks for a leak.

/// The objects that the two ends of a session have of each other by reference. An object that is given and never given back stays
/// alive until the session is over.
public struct SessionReferences: Sendable, Hashable {
    /// How many objects of this end the other one has, by the name of their service. A closure is of the service `()`.
    public let given: [String: Int]
    /// How many objects of the other end this one has.
    public let taken: Int

    /// Whether neither end has an object of the other.
    public var isEmpty: Bool { given.isEmpty && taken == 0 }
}
