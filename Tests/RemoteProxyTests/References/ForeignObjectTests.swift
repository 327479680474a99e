// Objects by reference and a peer that is not made with this library: no hello, no lists of objects, the names of StreamJsonRpc.

import RPCSockets
import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Suite struct `A foreign peer and objects` {
    private let shop = CornerBookshop()
    private let network = SimulatedNetwork()
    private let peer: HandwrittenEnd

    init() throws {
        network.exports.add(BookshopProxy(shop), named: nil)
        peer = try HandwrittenEnd(network)
    }

    private func says(_ message: String) -> [String] {
        peer.say(message)
        network.loop.advance(by: .milliseconds(100))
        return peer.take()
    }

    private func call(_ method: String, _ params: String, id: Int) -> [String] {
        says(#"{"jsonrpc":"2.0","method":"\#(method)","params":\#(params),"id":\#(id)}"#)
    }

    private func open(id: Int) -> [String] { call("Bookshop.open(_:)", #"["Emma"]"#, id: id) }

    @Test func `is given one, and calls it by both names`() {
        #expect(
            open(id: 1) == [
                #"{"jsonrpc":"2.0","id":1,"result":{"volumes":[{"__jsonrpc_marshaled":1,"handle":1,"service":"Volume"}]}}"#
            ])
        #expect(call("Volume[#1].title", "[]", id: 2) == [#"{"jsonrpc":"2.0","id":2,"result":"Emma"}"#])
        #expect(call("$/invokeProxy/1/title", "[]", id: 3) == [#"{"jsonrpc":"2.0","id":3,"result":"Emma"}"#])
    }

    @Test func `sends it back as the same object`() {
        _ = open(id: 1)
        let token = #"{"__jsonrpc_marshaled":0,"handle":1}"#
        let same = call("Bookshop.areSame", #"[{"volumes":[\#(token),\#(token)]}]"#, id: 2)
        #expect(same == [#"{"jsonrpc":"2.0","id":2,"result":true}"#])
    }

    @Test func `gives it back once for each time that it was given`() {
        _ = open(id: 1)
        _ = open(id: 2)
        let release =
            #"{"jsonrpc":"2.0","method":"$/releaseMarshaledObject","params":{"handle":1,"ownedBySender":false}}"#
        #expect(says(release) == [])
        #expect(call("$/invokeProxy/1/title", "[]", id: 3) == [#"{"jsonrpc":"2.0","id":3,"result":"Emma"}"#])
        #expect(says(release) == [])
        #expect(shop.alive.value == 0)
        #expect(call("$/invokeProxy/1/title", "[]", id: 4).first?.contains(#""code":-32001"#) == true)
    }

    @Test func `gives one of its own, is called back, and is told when it is not needed`() {
        let reader = #"{"volumes":[],"reader":{"__jsonrpc_marshaled":1,"handle":7}}"#
        let asked = call("Bookshop.ask", #"[\#(reader),"Maurice"]"#, id: 1)
        #expect(
            asked == [
                #"{"jsonrpc":"2.0","method":"$/invokeProxy/7/opened","params":["Maurice"]}"#,
                #"{"jsonrpc":"2.0","method":"$/invokeProxy/7/likes","params":["Maurice"],"id":2}"#,
            ])
        #expect(
            says(#"{"jsonrpc":"2.0","id":2,"result":true}"#) == [
                #"{"jsonrpc":"2.0","id":1,"result":true}"#,
                #"{"jsonrpc":"2.0","method":"$/releaseMarshaledObject","params":{"handle":7,"ownedBySender":false}}"#,
            ])
    }

    @Test(arguments: [
        "$/invokeProxy/2/title", "$/invokeProxy/-1/title", "$/invokeProxy/1/", "$/invokeProxy/1/nothing",
        "$/invokeProxy/1",
        "$/invokeProxy/01/title", "$/invokeProxy/1/Volume.title", "Volume[#2].title",
    ])
    func `is refused under any other name`(name: String) {
        _ = open(id: 1)
        let answer = call(name, "[]", id: 2)
        #expect(answer.count == 1 && answer[0].contains(#""error""#), "\(answer)")
    }

    @Test(arguments: [
        #"{"__jsonrpc_marshaled":2,"handle":1}"#, #"{"__jsonrpc_marshaled":1,"handle":-3}"#, #"{"handle":1}"#,
        #"{"__jsonrpc_marshaled":0,"handle":2}"#, #"{"__jsonrpc_marshaled":1,"handle":1,"service":"Reader"}"#, "5",
    ])
    func `is refused if it refers to an object in another way`(token: String) {
        _ = open(id: 1)
        let answer = call("Bookshop.keep", #"[{"volumes":[\#(token)]}]"#, id: 2)
        #expect(answer.count == 1 && answer[0].contains(#""error""#), "\(answer)")
        #expect(shop.kept.withLock { $0.isEmpty })
    }

    @Test func `loses what it was given with its connection`() {
        _ = open(id: 1)
        #expect(shop.alive.value == 1)
        peer.cut()
        network.loop.advance(by: .seconds(1))
        #expect(shop.alive.value == 0)
    }

    @Test func `gets no object in an answer of a batch`() {
        let answers = says(
            #"[{"jsonrpc":"2.0","method":"Bookshop.open(_:)","params":["Emma"],"id":1},{"jsonrpc":"2.0","method":"Bookshop.drop","id":2}]"#
        )
        #expect(
            answers.count == 1 && answers[0].contains("cannot name objects")
                && answers[0].contains(#""id":2,"result":null"#))
        #expect(shop.alive.value == 0)
    }
}
