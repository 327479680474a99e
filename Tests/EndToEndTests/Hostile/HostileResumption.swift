// What a server may do that wishes its clients ill when they come back to go on with their session: refuse, or say
// that it goes on and lie about how far it has come. It cuts every connection with a call unanswered, so that they come.

import Faults
import RPCSockets
import RPCWire
import Testing

struct HostileResumption: Sendable, CustomTestStringConvertible {
    /// What the connections of one server have seen, one after the other.
    struct Book: Sendable {
        var greetings = 0
        /// How often each text was asked for.
        var heard: [String: Int] = [:]
        /// Calls that were answered, by id.
        var paid: [String] = []
        /// Calls that were not: the id and the text.
        var owed: [(id: String, text: String)] = []
    }

    /// A client's hello, as far as the scripts want to know it.
    struct Greeting {
        let peer: ScriptedPeer
        let hello: Asked
        let number: Int
        let book: Lock<Book>

        /// The session that the client would go on with.
        var asksFor: String? {
            hello.text.firstRange(of: #""session":""#).map {
                String(hello.text[$0.upperBound...].prefix { $0 != "\"" })
            }
        }

        func answer(session: String, resumed: String? = nil) throws {
            let progress = resumed.map { #","resumed":\#($0)"# } ?? ""
            try peer.answer(hello, #"{"protocol":1,"session":\#(session)\#(progress)}"#)
        }
    }

    let name: String
    /// What the server says of the session is false: so is what the client says of its calls.
    let isLying: Bool
    /// Some calls are answered in spite of all.
    let answers: Bool
    let greet: @Sendable (Greeting) throws -> Void

    var testDescription: String { name }

    private init(
        _ name: String, isLying: Bool = false, answers: Bool = true,
        greet: @escaping @Sendable (Greeting) throws -> Void
    ) {
        (self.name, self.isLying, self.answers, self.greet) = (name, isLying, answers, greet)
    }

    /// What one connection does: greets, answers a few calls, hears one more and goes.
    func serve(_ peer: ScriptedPeer, _ book: Lock<Book>) throws {
        let number = book.withLock { book in
            book.greetings += 1
            return book.greetings
        }
        try greet(Greeting(peer: peer, hello: try peer.hear(), number: number, book: book))
        var calls = 0
        while true {
            let asked = try peer.hear()
            guard let id = asked.id, !asked.method.isEmpty else { continue }
            // On a slow machine there is time for one, and it is no call.
            if asked.method == "rpc.ping" {
                try peer.answer(asked, "null")
                continue
            }
            calls += 1
            let isLast = calls == 4
            book.withLock { book in
                book.heard[asked.argument, default: 0] += 1
                if isLast { book.owed.append((id, asked.argument)) } else { book.paid.append(id) }
            }
            if isLast { return }
            try peer.answer(asked, asked.argument)
        }
    }

    static let all = refusals + numbers + answers + names

    private static let none = #"{"requests":0,"replies":0}"#

    private static let refusals: [HostileResumption] = [
        HostileResumption("refuses it with an error") { greeting in
            guard greeting.asksFor != nil else { return try greeting.answer(session: #""one""#) }
            try greeting.peer.say(
                ScriptedPeer.failure(greeting.hello.id ?? "0", #"{"code":-32600,"message":"no such session"}"#))
        },
        HostileResumption("begins another session each time") {
            try $0.answer(session: #""session \#($0.number)""#)
        },
        HostileResumption("closes when it is asked for") { greeting in
            if greeting.asksFor != nil { greeting.peer.connection.shut() }
            try greeting.answer(session: #""one""#)
        },
        HostileResumption("says nothing when it is asked for") { greeting in
            if greeting.asksFor != nil { try greeting.peer.fallSilent() }
            try greeting.answer(session: #""one""#)
        },
        HostileResumption("refuses it as a login") { greeting in
            guard greeting.asksFor != nil else { return try greeting.answer(session: #""one""#) }
            try greeting.peer.say(
                ScriptedPeer.failure(greeting.hello.id ?? "0", #"{"code":-32055,"message":"log in"}"#))
        },
    ]

    private static let numbers: [HostileResumption] = [
        ("1000000", "1000000"), ("9223372036854775807", "9223372036854775807"), ("-1", "-1"),
        ("-9223372036854775808", "-9223372036854775808"), ("0", "9223372036854775807"), ("1.5", "0"), ("\"7\"", "[]"),
        ("9223372036854775808", "1e300"),
    ].map { requests, replies in
        HostileResumption("says that it has \(requests) and \(replies)", isLying: true) { greeting in
            let progress = #"{"requests":\#(requests),"replies":\#(replies)}"#
            try greeting.answer(session: #""one""#, resumed: greeting.asksFor == nil ? nil : progress)
        }
    }

    private static let answers: [HostileResumption] = [
        HostileResumption("answers what it had answered before, and what nobody asked", isLying: true) { greeting in
            let book = greeting.book.withLock { $0 }
            let highest = (book.paid + book.owed.map(\.id)).compactMap { Int64($0) }.max() ?? 0
            try greeting.answer(
                session: #""one""#,
                resumed: greeting.asksFor == nil ? nil : #"{"requests":\#(highest),"replies":0}"#)
            for id in book.paid { try greeting.peer.say(ScriptedPeer.reply(id, #""stolen""#)) }
            for id in 1...50 {
                try greeting.peer.say(ScriptedPeer.reply("\(highest + 10_000 + Int64(id))", #""stolen""#))
            }
            greeting.book.withLock { $0.owed = [] }
            for (id, text) in book.owed {
                try greeting.peer.say(ScriptedPeer.reply(id, text))
                try greeting.peer.say(ScriptedPeer.reply(id, #""stolen""#))
            }
        },
        HostileResumption("goes on with another session than it was asked for, and its answers") { greeting in
            let owed = greeting.book.withLock { $0.owed }
            try greeting.answer(
                session: #""another \#(greeting.number)""#, resumed: greeting.asksFor == nil ? nil : none)
            for (id, _) in owed { try greeting.peer.say(ScriptedPeer.reply(id, #""stolen""#)) }
        },
        HostileResumption("goes on with a session when none was asked for", isLying: true, answers: false) { greeting in
            try greeting.answer(session: #""one""#, resumed: #"{"requests":9223372036854775807,"replies":5}"#)
        },
        HostileResumption("answers calls before it has greeted") { greeting in
            for id in 0...100 { try greeting.peer.say(ScriptedPeer.reply("\(id + 1)", #""stolen""#)) }
            try greeting.answer(session: #""session \#(greeting.number)""#)
        },
    ]

    private static let names: [HostileResumption] =
        [
            ("a megabyte", "\"" + String(repeating: "x", count: 1 << 20) + "\""), ("nothing", #""""#), ("5", "5"),
            ("null", "null"), ("[]", "[]"), ("an escape", #""\u0000\"\n""#),
        ].map { what, session in
            HostileResumption("names its sessions \(what)", answers: what != "a megabyte") { greeting in
                // Says that it goes on whenever it is asked, whatever the name.
                try greeting.answer(session: session)
            }
        }
}
