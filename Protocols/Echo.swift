public import RemoteProxy

/// Returns its argument, at once or later. For measuring and for trying out.
@Service
public protocol Echo: Sendable {
    func text(_ text: String) async throws -> String
    func record(_ record: Record) async throws -> Record
    /// Returns the text after a delay. Other calls are not delayed. Stops waiting when the call is cancelled.
    func later(_ text: String, afterMilliseconds: Int) async throws -> String
}

/// A value with a member of each common kind.
public struct Record: Codable, Sendable, Hashable {
    /// A whole number.
    public var id: Int
    /// A short text.
    public var name: String
    /// Another short text.
    public var email: String
    /// A list of texts.
    public var tags: [String]
    /// A list of fractions.
    public var scores: [Double]
    /// Yes or no.
    public var active: Bool

    /// A record with the given members.
    public init(id: Int, name: String, email: String, tags: [String], scores: [Double], active: Bool) {
        self.id = id
        self.name = name
        self.email = email
        self.tags = tags
        self.scores = scores
        self.active = active
    }
}
