public import RemoteProxy

/// Sends back what it gets, at once or later: for measuring and for trying out.
@Service
public protocol Echo: Sendable {
    func text(_ text: String) async throws -> String
    func record(_ record: Record) async throws -> Record
    /// Waits without holding up anybody else, and stops waiting when the call is cancelled.
    func later(_ text: String, afterMilliseconds: Int) async throws -> String
}

/// A value with a member of each common kind.
public struct Record: Codable, Sendable, Hashable {
    public var id: Int
    public var name: String
    public var email: String
    public var tags: [String]
    public var scores: [Double]
    public var active: Bool

    public init(id: Int, name: String, email: String, tags: [String], scores: [Double], active: Bool) {
        self.id = id
        self.name = name
        self.email = email
        self.tags = tags
        self.scores = scores
        self.active = active
    }
}
