// What a subject keeps to itself stays in the server's log, whichever way it gets out of the subject.

import Protocols
import RPCServer
import RemoteProxy
import TestSupport
import Testing

private struct Confession: Error, CustomStringConvertible {
    let description = "cannot open /srv/secret/path with password hunter2"
}

private struct Unspeakable: Codable, Sendable {
    func encode(to encoder: any Encoder) throws { throw Confession() }
}

@Service
private protocol Confessor: Sendable {
    func confess() async throws -> String
    func speak() async throws -> Unspeakable
}

private struct Sinner: Confessor {
    func confess() async throws -> String { throw Confession() }
    func speak() async throws -> Unspeakable { Unspeakable() }
}

@Suite(.waitsForOthers) struct `Secrecy` {
    @Test(arguments: ["confess", "speak"])
    func `a private error is a fixed text and a number, under which the log has the rest`(method: String) async throws {
        let log = LoggedLines()
        try await withGate(exporting: [ConfessorProxy(Sinner())]) {
            $0.log = log.add
        } _: { _, url in
            let answer = try #require(
                try RawClient(url).ask(#"{"jsonrpc":"2.0","method":"Confessor.\#(method)","id":1}"#))
            #expect(try brief(answer) == "1!-32603")
            for secret in ["/srv", "hunter2", "Confession", "Unspeakable", "Sinner"] {
                #expect(!answer.contains(secret), "\(answer)")
            }
            let line = try #require(log.lines.first)
            #expect(log.lines.count == 1 && line.contains("hunter2"))
            let words = line.split { !$0.isLetter && !$0.isNumber }
            let mark = try #require(words.firstIndex(of: "ID"))
            let reference = try #require(words.dropFirst(mark + 1).first)
            #expect(answer.contains("under the failure ID \(reference)\""), "\(answer) / \(line)")
        }
    }
}
