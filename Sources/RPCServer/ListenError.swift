// Why a server could not listen.

/// An address that a server was asked to listen on and cannot.
public struct ListenError: Error, Sendable, CustomStringConvertible {
    /// The address as it was given.
    public let url: String
    /// What happened and what to do about it, in one line that names the address.
    public let description: String
}
