// Whether the other end of a connection may call, and as whom. Pure: tokens and byte counts go in, decisions come out.

package import RPCWire

/// Keeps a peer out until it has shown a token, and counts every byte to and from it until then.
package struct Login: Sendable {
    private var input = 0
    private var output = 0
    /// The line of the token list whose token was shown last.
    package private(set) var entry: TokenList.Entry?
    /// The identity that the peer has proved.
    package private(set) var identity: Identity?
    /// Whether the peer may not call anything yet.
    package private(set) var isLocked: Bool

    /// - Parameter needsProof: whether the server has a list of tokens.
    package init(needsProof: Bool) { isLocked = needsProof }

    /// Lets a peer in that has proved who it is without a token.
    /// - Parameter tokens: the list that says what a certificate is worth; nil if every peer may call.
    package mutating func prove(_ proof: PeerProof, _ tokens: TokenList?) {
        switch proof {
        case .user(let user): identity = Identity(name: "uid:\(user)")
        case .named(let name, let roles): identity = Identity(name: name, roles: roles)
        case .certificate(let name):
            // A list lets in only what it has. A peer whose certificate it lacks may still show a token.
            _ = show(tokens == nil ? .withoutList(certificate: name) : tokens?.entry(forCertificate: name))
            return
        }
        isLocked = false
    }

    /// Judges a token that the peer has shown. A peer that is known by one token cannot become another with a second.
    /// - Parameter entry: the line of the token list that has the token; nil if none has.
    /// - Returns: whether the token lets the peer in.
    package mutating func show(_ entry: TokenList.Entry?) -> Bool {
        guard let entry, self.entry == nil || entry.identity == identity else { return false }
        self.entry = entry
        identity = entry.identity
        isLocked = false
        return true
    }

    /// Counts bytes that have come.
    /// - Returns: whether at most so many have come.
    package mutating func received(_ count: Int, of most: Int) -> Bool {
        Self.add(count, to: &input, ifLocked: isLocked, most: most)
    }

    /// Counts bytes of an answer that is about to leave.
    /// - Returns: whether at most so many leave.
    package mutating func answers(_ count: Int, of most: Int) -> Bool {
        Self.add(count, to: &output, ifLocked: isLocked, most: most)
    }

    private static func add(_ count: Int, to sum: inout Int, ifLocked isLocked: Bool, most: Int) -> Bool {
        guard isLocked else { return true }
        sum = count > most - min(sum, most) ? .max : sum + count
        return sum <= most
    }
}
