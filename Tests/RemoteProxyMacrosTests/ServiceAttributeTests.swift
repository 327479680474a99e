// What `@Service(name:errors:)` may say, and what becomes of it.

import Testing

@testable import RemoteProxyMacros

struct ServiceAttributeTests {
    @Test func `types of the same name are listed under their spellings`() {
        let expanding = Expanding(
            "protocol P: Sendable {}",
            attribute:
                "@Service(errors: Login.Failure.self, Payment . Failure.self, `Failure`.self, Box<Int, [Int]>.self)")
        #expect(expanding.messages == [])
        #expect(
            expanding.lines(with: "_ServiceDescription") == [
                #"static let service = RemoteProxy._ServiceDescription("P", errors: ["#
                    + #""Login.Failure": Login.Failure.self, "Payment.Failure": Payment.Failure.self, "#
                    + #""Failure": `Failure`.self, "Box<Int, [Int]>": Box<Int, [Int]>.self])"#
            ])
    }

    @Test(arguments: [
        ("A.self, B.self, A.self", "A"), ("A.B.self, A . B.self", "A.B"), ("`A`.self, A.self", "A"),
    ])
    func `a type that is listed twice is refused`(errors: String, type: String) {
        let expanding = Expanding("\nprotocol P: Sendable {}", attribute: "@Service(errors: \(errors))")
        #expect(expanding.messages == ["1: 'errors:' lists '\(type)' twice; remove one"])
    }

    @Test(arguments: ["Ledger", "bank.Ledger", "_l2", "Größe", "rpcs.class", "a.rpc"])
    func `a service may have another name on the wire`(name: String) {
        let expanding = Expanding(
            "protocol P: Sendable { func f(); func f(_ a: Int) }",
            attribute: "@Service(name: \"\(name)\", errors: A.self)")
        #expect(expanding.messages == [])
        #expect(
            expanding.lines(with: "_ServiceDescription") == [
                #"static let service = RemoteProxy._ServiceDescription("\#(name)", errors: ["A": A.self])"#
            ])
        #expect(expanding.lines(with: "struct PProxy").count == 1)
    }

    @Test(arguments: [
        "\"\"", "\"a b\"", "\"a[b]\"", "\"rpc\"", "\"rpc.Ledger\"", "\"$a\"", "\"a$\"", "\"~a\"", "\"#a\"", "\"@a\"",
        "\"a..b\"",
        "\".a\"", "\"a.\"", "\"2a\"", "\"a.2\"", "\"a/b\"", "\"a\\(1)\"", "\"\\u{61}\"", "#\"a\"#", "nil", "name",
    ])
    func `a name that could be taken for something else on the wire is refused`(spelling: String) {
        let expanding = Expanding("\nprotocol P: Sendable {}", attribute: "@Service(name: \(spelling), errors: A.self)")
        #expect(
            expanding.messages == [
                "1: \(spelling) cannot be the name of a service; write a literal like \"Ledger\" or \"bank.Ledger\": "
                    + "letters, digits and '_', the first no digit, parts joined by dots, the first part not 'rpc'"
            ])
    }
}
