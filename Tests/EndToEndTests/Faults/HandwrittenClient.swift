// A client of our kind whose every word is written by hand: it says hello, and who it says it is and which session it
// would go on with is up to the test.

import Foundation
import RemoteProxy

final class HandwrittenClient {
    let raw: RawClient
    /// What its hello was answered with.
    let welcome: String

    /// - Parameter received: how many requests and answers it says that it has.
    init(_ url: Endpoint, token: String? = nil, resuming session: String? = nil, received: (Int, Int) = (0, 0)) throws {
        raw = try RawClient(url)
        var members = [#""protocol":1"#]
        if let token { members.append(#""token":"\#(token)""#) }
        if let session {
            let received = #"{"requests":\#(received.0),"replies":\#(received.1)}"#
            members.append(#""resume":{"session":"\#(session)","received":\#(received)}"#)
        }
        let params = members.joined(separator: ",")
        guard
            let welcome = try raw.ask(#"{"jsonrpc":"2.0","id":0,"method":"rpc.hello","params":{\#(params)}}"#)
        else { throw WireFault("no welcome") }
        self.welcome = welcome
    }

    var session: String {
        welcome.firstRange(of: #""session":""#).map { String(welcome[$0.upperBound...].prefix { $0 != "\"" }) } ?? ""
    }

    /// Whether the session that it asked for goes on.
    var hasResumed: Bool { welcome.contains(#""resumed":"#) }

    static func next(id: Int) -> String { #"{"jsonrpc":"2.0","method":"Counter.next","id":\#(id)}"# }

    /// The answer to this call, whatever else comes before it; nil when the server has closed.
    func answer(to id: Int) throws -> String? {
        while let reply = try raw.hear() {
            let brief = try brief(reply)
            if brief.hasPrefix("\(id)=") { return String(brief.dropFirst("\(id)=".count)) }
        }
        return nil
    }
}
