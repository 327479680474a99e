// Who somebody is, once it has been proved.

/// A name and roles that the other end of a connection has proved to have, by a token or by the user id of its process.
public struct Identity: Sendable, Hashable {
    /// Whose it is.
    public let name: String
    /// What it may be allowed for.
    public let roles: Set<String>

    /// An identity; proves nothing by itself.
    public init(name: String, roles: Set<String> = []) {
        self.name = name
        self.roles = roles
    }
}
