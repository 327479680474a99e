// What a server may do that wishes its clients ill. Each lot says what becomes of the calls made meanwhile, where that
// is certain; a text "stolen" is never anybody's answer.

import Faults
import Testing

struct HostileServer: Sendable, CustomTestStringConvertible {
    /// What a caller gets.
    enum End: Sendable, Hashable {
        /// Its own answer.
        case answered
        case failed
        /// Either, but nothing else.
        case either
    }

    let name: String
    let end: End
    let script: @Sendable (ScriptedPeer) throws -> Void

    var testDescription: String { name }

    private init(_ name: String, _ end: End, script: @escaping @Sendable (ScriptedPeer) throws -> Void) {
        (self.name, self.end, self.script) = (name, end, script)
    }

    /// One that greets properly and then does this to every call.
    private static func each(
        _ name: String, _ end: End, _ reply: @escaping @Sendable (ScriptedPeer, Asked, _ id: String) throws -> Void
    ) -> HostileServer {
        HostileServer(name, end) { peer in
            try peer.welcome()
            while true {
                let asked = try peer.hear()
                // What has no method is an answer to something the script asked.
                if let id = asked.id, !asked.method.isEmpty { try reply(peer, asked, id) }
            }
        }
    }

    /// One that answers every call with this message, in which ID is the call's number.
    private static func saying(_ name: String, _ end: End, _ messages: String...) -> HostileServer {
        each(name, end) { peer, asked, id in
            for message in messages {
                try peer.say(
                    message.replacing("ID", with: id).replacing("OWN", with: asked.argument))
            }
        }
    }

    /// One that greets and sends these bytes at the first call.
    private static func sending(_ name: String, _ end: End, _ bytes: [UInt8]) -> HostileServer {
        HostileServer(name, end) { peer in
            try peer.welcome()
            _ = try peer.hear()
            try peer.send(bytes)
            try peer.fallSilent()
        }
    }

    private static let stolen = #""stolen""#
    private static let own = #"{"jsonrpc":"2.0","id":ID,"result":OWN}"#

    static let all = answers + greetings + floods + streams
    /// Those that would cost memory.
    static let costly = floods + streams.filter { $0.name.contains("gigabytes") || $0.name.contains("megabytes") }

    private static let answers: [HostileServer] = [
        saying(
            "answers to calls that nobody made", .answered, #"{"jsonrpc":"2.0","id":ID000,"result":"stolen"}"#,
            #"{"jsonrpc":"2.0","id":-ID,"result":"stolen"}"#, #"{"jsonrpc":"2.0","id":0,"result":"stolen"}"#,
            #"{"jsonrpc":"2.0","id":9223372036854775807,"result":"stolen"}"#, own),
        saying(
            "ids of other types", .answered, #"{"jsonrpc":"2.0","id":"ID","result":"stolen"}"#,
            #"{"jsonrpc":"2.0","id":null,"result":"stolen"}"#, #"{"jsonrpc":"2.0","id":[ID],"result":"stolen"}"#,
            #"{"jsonrpc":"2.0","id":1e999,"result":"stolen"}"#, #"{"jsonrpc":"2.0","result":"stolen"}"#,
            #"{"jsonrpc":"2.0","id":{"ID":ID},"result":"stolen"}"#, #"{"jsonrpc":"2.0","id":true,"result":"stolen"}"#,
            own),
        saying("two answers", .answered, own, #"{"jsonrpc":"2.0","id":ID,"result":"stolen"}"#),
        saying(
            "an answer and then an error", .answered, own, #"{"jsonrpc":"2.0","id":ID,"error":{"code":1,"message":""}}"#
        ),
        saying(
            "a result and an error", .failed,
            #"{"jsonrpc":"2.0","id":ID,"result":"stolen","error":{"code":1,"message":"x"}}"#),
        saying("neither", .failed, #"{"jsonrpc":"2.0","id":ID}"#),
        saying("no version", .failed, #"{"id":ID,"result":"stolen"}"#),
        saying("a result that is no text", .failed, #"{"jsonrpc":"2.0","id":ID,"result":{"stolen":[1,null,true]}}"#),
        saying("a lone surrogate", .failed, #"{"jsonrpc":"2.0","id":ID,"result":"\ud800"}"#),
        saying("an error that is none", .failed, #"{"jsonrpc":"2.0","id":ID,"error":"no"}"#),
        saying("an error without a code", .failed, #"{"jsonrpc":"2.0","id":ID,"error":{"message":"x"}}"#),
        saying(
            "an error beyond all numbers", .failed, #"{"jsonrpc":"2.0","id":ID,"error":{"code":1e30,"message":"x"}}"#),
        saying(
            "an error with odd data", .failed,
            #"{"jsonrpc":"2.0","id":ID,"error":{"code":1,"message":"x","data":{"type":5,"outcome":[],"error":{}}}}"#),
        saying(
            "an error of a type that is not listed", .failed,
            #"{"jsonrpc":"2.0","id":ID,"error":{"code":1,"message":"x","data":{"type":"Swift.String","error":"x"}}}"#),
        saying(
            "answers in a batch with others", .answered, #"[{"jsonrpc":"2.0","id":ID7,"result":"stolen"},\#(own),5,[]]"#
        ),
        saying(
            "a busy that never ends", .failed, #"{"jsonrpc":"2.0","id":ID,"error":{"code":-32009,"message":"busy"}}"#),
        saying("no JSON, and then the answer", .either, "{", "]", "\u{0}\u{0}", own),
    ]

    private static let greetings: [HostileServer] = [
        HostileServer("no greeting at all", .failed) { try $0.fallSilent() },
        HostileServer("a greeting that is refused", .answered) { peer in
            let hello = try peer.hear()
            try peer.say(ScriptedPeer.failure(hello.id ?? "0", #"{"code":-32601,"message":"what?"}"#))
            while true {
                let asked = try peer.hear()
                try peer.answer(asked, asked.argument)
            }
        },
        HostileServer("a greeting of the wrong type, twice", .answered) { peer in
            let hello = try peer.hear()
            for result in ["5", "[[]]", "null"] { try peer.answer(hello, result) }
            while true {
                let asked = try peer.hear()
                try peer.answer(asked, asked.argument)
            }
        },
        HostileServer("answers before there was a question", .answered) { peer in
            for id in 0..<100 { try peer.say(ScriptedPeer.reply("\(id + 1)", stolen)) }
            try peer.welcome()
            while true {
                let asked = try peer.hear()
                try peer.answer(asked, asked.argument)
            }
        },
        HostileServer("the end in place of a greeting", .failed) { _ in },
        HostileServer("the end behind the greeting", .failed) { try $0.welcome() },
        HostileServer("the end behind every call", .failed) { peer in
            try peer.welcome()
            _ = try peer.hear()
        },
        HostileServer("a reset behind every call", .failed) { peer in
            try peer.welcome()
            _ = try peer.hear()
            peer.connection.resetOnClose()
        },
    ]

    private static let floods: [HostileServer] = [
        HostileServer("notifications without end, and the answers between", .either) { peer in
            try peer.welcome()
            let notifications = (0..<1_000).flatMap { _ in
                ScriptedPeer.frame(#"{"jsonrpc":"2.0","method":"Nobody.listens","params":["stolen"]}"#)
            }
            while true {
                let asked = try peer.hear()
                for _ in 0..<10 { try peer.send(notifications) }
                try peer.answer(asked, asked.argument)
            }
        },
        HostileServer("questions without end, whose answers it does not read", .either) { peer in
            try peer.welcome()
            let questions = (0..<1_000).flatMap {
                ScriptedPeer.frame(#"{"jsonrpc":"2.0","method":"Nobody.is","id":\#($0)}"#)
            }
            for _ in 0..<100 { try peer.send(questions) }
            try peer.fallSilent()
        },
        each("cancels of calls that nobody made", .answered) { peer, asked, id in
            let cancels = (0..<100).flatMap {
                ScriptedPeer.frame(#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":\#($0)}}"#)
            }
            try peer.send(cancels)
            try peer.answer(asked, asked.argument)
        },
        each("hellos of its own", .answered) { peer, asked, id in
            for number in 0..<100 {
                try peer.say(#"{"jsonrpc":"2.0","method":"rpc.hello","params":{"timeout":-1},"id":\#(number)}"#)
            }
            try peer.answer(asked, asked.argument)
        },
        HostileServer("goodbye, every time", .failed) { peer in
            try peer.welcome()
            try peer.say(#"{"jsonrpc":"2.0","method":"rpc.drain"}"#)
            try peer.fallSilent()
        },
        saying(
            "stopping, says every answer", .failed,
            #"{"jsonrpc":"2.0","id":ID,"error":{"code":-32050,"message":"stopping"}}"#),
        sending("empty messages without end", .failed, [UInt8](repeating: 0, count: 400_000)),
    ]

    private static let streams: [HostileServer] = [
        each("an answer a byte at a time", .answered) { peer, asked, id in
            for byte in ScriptedPeer.frame(ScriptedPeer.reply(id, asked.argument)) { try peer.send([byte]) }
        },
        sending(
            "half an answer, and silence", .failed,
            Array(ScriptedPeer.frame(ScriptedPeer.reply("1", stolen)).dropLast(5))),
        HostileServer("half an answer, and the end", .failed) { peer in
            try peer.welcome()
            let asked = try peer.hear()
            try peer.send(Array(ScriptedPeer.frame(ScriptedPeer.reply(asked.id ?? "1", stolen)).dropLast(5)))
        },
        sending("two gigabytes, it says", .failed, [0x7F, 0xFF, 0xFF, 0xFF] + Array("{\"jsonrpc\"".utf8)),
        sending("four gigabytes, it says", .failed, [0xFF, 0xFF, 0xFF, 0xFF] + Array("{\"jsonrpc\"".utf8)),
        sending(
            "sixteen megabytes, it says, and sends the half", .failed,
            [0, 0xFF, 0xFF, 0xFF] + [UInt8](repeating: 0x20, count: 8_000_000)),
        sending("arrays without end", .failed, ScriptedPeer.frame(String(repeating: "[", count: 200_000))),
        sending("objects without end", .failed, ScriptedPeer.frame(String(repeating: #"{"id":"#, count: 100_000))),
        sending(
            "a result without end", .failed,
            ScriptedPeer.frame(#"{"jsonrpc":"2.0","id":1,"result":"# + String(repeating: "[", count: 200_000))),
        sending(
            "a number without end", .failed,
            ScriptedPeer.frame(#"{"jsonrpc":"2.0","id":1,"result":"# + String(repeating: "9", count: 500_000) + "}")),
        sending(
            "bad UTF-8", .failed,
            [0, 0, 0, 44] + Array(#"{"jsonrpc":"2.0","id":1,"result":"stolen"#.utf8) + [0xC3, 0x28, 0x22, 0x7D]),
        sending("a web server", .failed, Array("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n".utf8)),
        sending("a TLS alert", .failed, [0x15, 3, 1, 0, 2, 2, 0x46]),
        sending("lines", .failed, Array("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"stolen\"}\n".utf8)),
        sending(
            "headers", .failed,
            Array("Content-Length: 42\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"stolen\"}".utf8)),
    ]
}
