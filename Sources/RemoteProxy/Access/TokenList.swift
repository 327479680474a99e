// The tokens that a server knows, and the identity that each proves.

import RPCSockets
import RPCWire

/// A name and roles that the other end of a connection has proved to have: by a token, by its certificate, or by the user id of
/// its process. A client in the process of its server has those that the program gives it.
public struct Identity: Sendable, Hashable {
    /// The name in the list of tokens, or `uid:` and the number of the user. Without a list, `cert:` and the name in the
    /// certificate.
    public let name: String
    /// The roles in the list of tokens.
    public let roles: Set<String>

    /// An identity. Making one proves nothing.
    public init(name: String, roles: Set<String> = []) {
        self.name = name
        self.roles = roles
    }
}

/// The tokens that let callers in, each with the name and the roles of its caller.
///
/// Each token has a line of its own: a name, the roles with commas between them if there are any, and the token, with blanks
/// between the three. A name may have several lines, so that a new token is known before the old one is taken out.
///
/// ```text
/// # name  roles         token
/// alice   admin,audit   3q2-7wAAAAC7u-_u3q2-7w
/// backup                kX9_d0Zs1mYt-4Qa0pLr
/// shop    orders        cert:shop.example.com
/// ```
///
/// In place of a token a line may have `cert:` and a name. It lets in the callers with TLS whose certificate is trusted and has that
/// name: its first URI, else its first DNS name. Of a certificate
/// with neither, nor any other alternative name, it is the common name.
///
/// A list that is printed or dumped shows only how many tokens it has.
public struct TokenList: Sendable {
    /// One line of a list. It lets in the connection that has shown its token, or a certificate with its name.
    package struct Entry: Sendable, Hashable {
        fileprivate enum Proof: Hashable {
            case token([UInt8])
            /// The bytes of the name: texts that differ in bytes may be equal.
            case certificate([UInt8])
        }

        fileprivate let proof: Proof
        package let identity: Identity

        /// What a certificate is worth where there is no list.
        static func withoutList(certificate name: String) -> Entry {
            Entry(
                proof: .certificate(Array(name.utf8)), identity: Identity(name: "\(TokenList.certificateMark)\(name)"))
        }
    }

    /// Begins the name of a certificate in place of a token.
    fileprivate static let certificateMark = "cert:"

    /// The fewest characters that a token may have.
    static let shortestToken = 16

    private let entries: Set<Entry>

    /// Reads a text in the form shown above.
    /// - Throws: `TokenListError`, which names the line that is wrong, or says that there is no token in the text.
    public init(parsing text: String) throws(TokenListError) { try self.init(text, of: "the token list") }

    /// Reads a file that only its owner may read.
    /// - Throws: `TokenListError` when the file cannot be read, when others may read it too, or when its text is wrong.
    public init(file path: String) throws(TokenListError) {
        let text: String
        do throws(SetupError) {
            text = try PrivateFile.read(path)
        } catch {
            throw TokenListError("the token file \(path) \(error)")
        }
        try self.init(text, of: "the token file \(path)")
    }

    /// Reads a variable of the environment and removes it, so that programs started by this one do not inherit it. Nil when
    /// there is no such variable. Call it before there are other threads.
    /// - Throws: `TokenListError` when the text is wrong.
    public init?(takingFromEnvironment name: String) throws(TokenListError) {
        guard let text = ProcessEnvironment.take(name) else { return nil }
        try self.init(text, of: "the variable \(name)")
    }

    private init(_ text: String, of place: String) throws(TokenListError) {
        guard text.unicodeScalars.first != "\u{FEFF}" else {
            throw TokenListError(
                "line 1 of \(place) begins with a byte-order mark (EF BB BF), which would become part of its first word; "
                    + "save it as UTF-8 without one")
        }
        var entries: Set<Entry> = []
        var proofs: Set<Entry.Proof> = []
        // To Swift, the line end of Windows is one character.
        let lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
        for (index, line) in lines.enumerated() {
            let fields = line.split { $0.isWhitespace }
            guard let name = fields.first, !name.hasPrefix("#") else { continue }
            // No message may contain a field: one of the fields is the secret.
            let wrong = { (why: String) in TokenListError("line \(index + 1) of \(place) \(why)") }
            guard fields.count == 2 || fields.count == 3 else {
                throw wrong("is not a name, perhaps roles, and a token with blanks between them")
            }
            let proof = try Self.proof(in: fields[fields.count - 1], wrong)
            guard proofs.insert(proof).inserted else {
                throw wrong("has a token or certificate that an earlier line has too")
            }
            let roles = fields.count == 3 ? Set(fields[1].split(separator: ",").map(String.init)) : []
            entries.insert(Entry(proof: proof, identity: Identity(name: String(name), roles: roles)))
        }
        guard !entries.isEmpty else { throw TokenListError("\(place) has no token, so no caller could come in") }
        self.entries = entries
    }

    private static func proof(
        in field: Substring, _ wrong: (String) -> TokenListError
    ) throws(TokenListError) -> Entry.Proof {
        if field.hasPrefix(certificateMark) {
            let name = String(field.dropFirst(certificateMark.count))
            if name.isEmpty { throw wrong("has \(certificateMark) without the name in a certificate") }
            return .certificate(Array(name.utf8))
        }
        let token = Array(field.utf8)
        guard token.count >= shortestToken else {
            throw wrong("has a token of \(token.count) characters; it takes at least \(shortestToken)")
        }
        return .token(token)
    }

    /// The line that has this certificate; nil if none.
    func entry(forCertificate name: String) -> Entry? { entries.first { $0.proof == .certificate(Array(name.utf8)) } }

    /// The line that has this token; nil if none. The time that this takes tells nothing of the tokens: all are compared, each
    /// to its end.
    package func entry(for token: String) -> Entry? {
        let given = Array(token.utf8)
        var found: Entry?
        for entry in entries {
            guard case .token(let known) = entry.proof, Self.areEqual(given, known) else { continue }
            found = entry
        }
        return found
    }

    /// Whether a caller that was let in earlier may stay. It may if its line is in this list too, with the same name and roles.
    /// It also may if it came without a token, and the system has named its user or this program has named it.
    package func keeps(_ identity: Identity?, by entry: Entry?) -> Bool {
        entry.map(entries.contains) ?? (identity != nil)
    }

    /// Compares in a time that depends only on the length of `given`.
    @inline(never)
    private static func areEqual(_ given: [UInt8], _ known: [UInt8]) -> Bool {
        var difference = given.count ^ known.count
        for index in given.indices { difference |= Int(given[index] ^ known[index % known.count]) }
        return difference == 0
    }
}

extension TokenList: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// How many there are.
    public var description: String { entries.count == 1 ? "1 token" : "\(entries.count) tokens" }
    /// How many there are.
    public var debugDescription: String { description }
    /// Nothing of the secrets, for `dump` and for code that prints a configuration.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Why a list of tokens cannot be used, in one line that contains nothing of the tokens.
public struct TokenListError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong and where.
    public let description: String

    init(_ description: String) { self.description = description }
}
