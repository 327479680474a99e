// What a list of tokens lets in, what it refuses to be, and that it never shows what is in it.

import RemoteProxy
import Testing

@Suite struct `Lists of tokens` {
    private static let text = """
        # name  roles  token
        alice   admin,audit   0123456789abcdef

        backup\tfedcba9876543210fedcba98
        alice   -second-token-of-alice-
        """

    @Test(arguments: [
        ("0123456789abcdef", Identity(name: "alice", roles: ["admin", "audit"])),
        ("fedcba9876543210fedcba98", Identity(name: "backup")),
        ("-second-token-of-alice-", Identity(name: "alice")),
    ])
    func `a token proves a name and its roles`(token: String, identity: Identity) throws {
        #expect(try TokenList(parsing: Self.text).entry(for: token)?.identity == identity)
    }

    @Test(arguments: [
        "", "0", "0123456789abcde", "0123456789abcdef0", "0123456789abcdef0123456789abcdef", "0123456789abcdeF",
        "alice", "#", "admin,audit", "0123456789abcdef\n", String(repeating: "0", count: 20_000),
    ])
    func `what is no token proves nothing, be it a part of one or one twice`(token: String) throws {
        #expect(try TokenList(parsing: Self.text).entry(for: token) == nil)
    }

    @Test(arguments: [
        ("", "the token list has no token, so no caller could come in"),
        ("# alice 0123456789abcdef", "the token list has no token, so no caller could come in"),
        ("alice", "line 1 of the token list is not a name, perhaps roles, and a token with blanks between them"),
        (
            "\nalice a b 0123456789abcdef",
            "line 2 of the token list is not a name, perhaps roles, and a token with blanks between them"
        ),
        ("alice 0123456789abcde", "line 1 of the token list has a token of 15 characters; it takes at least 16"),
        (
            "alice 0123456789abcdef\nbob 0123456789abcdef",
            "line 2 of the token list has a token or certificate that an earlier line has too"
        ),
        (
            "\u{FEFF}alice 0123456789abcdef",
            "line 1 of the token list begins with a byte-order mark (EF BB BF), which would become part of its first word; "
                + "save it as UTF-8 without one"
        ),
        (
            "# list\r\nalice 0123456789abcde",
            "line 2 of the token list has a token of 15 characters; it takes at least 16"
        ),
    ])
    func `a wrong line is named, and nothing of it is repeated`(text: String, why: String) {
        let error = #expect(throws: TokenListError.self) { try TokenList(parsing: text) }
        #expect(error?.description == why)
    }

    @Test func `lines may end as they do on Windows`() throws {
        let list = try TokenList(parsing: Self.text.replacing("\n", with: "\r\n"))
        #expect(list.description == "3 tokens")
        #expect(list.entry(for: "0123456789abcdef")?.identity == Identity(name: "alice", roles: ["admin", "audit"]))
    }

    @Test(arguments: [
        (Self.text, true), ("alice audit,admin 0123456789abcdef", true), ("alice admin 0123456789abcdef", false),
        ("bob admin,audit 0123456789abcdef", false), ("alice admin,audit 0123456789abcdeF", false),
    ])
    func `a list keeps a caller whose token it has with the same name and roles`(text: String, isKept: Bool) throws {
        let entry = try #require(try TokenList(parsing: Self.text).entry(for: "0123456789abcdef"))
        #expect(try TokenList(parsing: text).keeps(entry.identity, by: entry) == isKept)
    }

    @Test func `a list keeps a user that the system has named, and nobody else without a token`() throws {
        let list = try TokenList(parsing: Self.text)
        #expect(list.keeps(Identity(name: "uid:7"), by: nil) && !list.keeps(nil, by: nil))
    }

    @Test func `neither a list nor a token shows its secrets, however it is looked at`() throws {
        var configuration = RPCClient.Configuration()
        configuration.token = "0123456789abcdef"
        let list = try TokenList(parsing: Self.text)
        var shown = "\(list) \(String(reflecting: list)) \(configuration) \(String(reflecting: configuration))"
        dump(list, to: &shown)
        dump(configuration, to: &shown)
        #expect(shown.contains("3 tokens") && shown.contains("a token"))
        #expect(!shown.contains("0123456789abcdef") && !shown.contains("second-token"))
    }
}
