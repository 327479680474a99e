// Objects by reference and a peer that does not keep to the rules: it names objects that it was not given, gives back what it does
// not have, or gives far too many.

import RPCSockets
import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Suite struct `A peer that handles objects wrongly` {
    private let shop = CornerBookshop()
    private let log = Lock<[String]>([])
    private let network: SimulatedNetwork
    private let peer: HandwrittenEnd

    init() throws {
        network = SimulatedNetwork(settings: Self.settings, log: { [log] line in log.withLock { $0.append(line) } })
        network.exports.add(BookshopProxy(shop), named: nil)
        peer = try HandwrittenEnd(network)
        peer.say(#"{"jsonrpc":"2.0","id":0,"method":"rpc.hello","params":{"protocol":4}}"#)
        _ = peer.take()
    }

    private static var settings: LinkSettings {
        var settings = LinkSettings()
        settings.limits.maximumReferences = 20
        return settings
    }

    /// What the server says to a message, and within the time that it takes to give objects back.
    private func says(_ message: String) -> [String] {
        peer.say(message)
        network.loop.advance(by: .milliseconds(100))
        return peer.take()
    }

    private func call(_ method: String, _ params: String, id: Int, listing objects: String? = nil) -> [String] {
        let list = objects.map { #","objects":[\#($0)]"# } ?? ""
        return says(#"{"jsonrpc":"2.0","method":"\#(method)","params":\#(params),"id":\#(id)\#(list)}"#)
    }

    private func post(_ method: String, _ params: String, number: Int, listing objects: String? = nil) -> [String] {
        let list = objects.map { #","objects":[\#($0)]"# } ?? ""
        return says(#"{"jsonrpc":"2.0","method":"\#(method)","params":\#(params),"number":\#(number)\#(list)}"#)
    }

    private func parcel(_ handles: Range<Int>, kind: Int = 1) -> String {
        let volumes = handles.map { #"{"__jsonrpc_marshaled":\#(kind),"handle":\#($0),"service":"Volume"}"# }
        return #"[{"volumes":[\#(volumes.joined(separator: ","))]}]"#
    }

    @Test func `speaks the protocol like any other`() {
        let opened = call("Bookshop.open(_:)", #"["Emma"]"#, id: 1)
        #expect(
            opened == [
                #"{"jsonrpc":"2.0","id":1,"result":{"volumes":[{"__jsonrpc_marshaled":1,"handle":1,"service":"Volume"}]},"objects":[1]}"#
            ])
        #expect(call("Volume[#1].title", "[]", id: 2) == [#"{"jsonrpc":"2.0","id":2,"result":"Emma"}"#])
        #expect(
            call("Bookshop.echo", parcel(1..<2, kind: 0), id: 3, listing: "-1") == [
                #"{"jsonrpc":"2.0","id":3,"result":{"volumes":[{"__jsonrpc_marshaled":1,"handle":1,"service":"Volume"}]},"objects":[1]}"#
            ])
        #expect(shop.alive.value == 1)
        _ = post("rpc.release", "[[1,2]]", number: 4)
        #expect(shop.alive.value == 0)
    }

    @Test(arguments: [
        "Volume[#2].title", "Volume[#-1].title", "Volume[#0].title", "Reader[#1].likes", "Volume[#01].title2",
        "Volume[#99999999999999999999].title", "Volume[#1x].title", "Volume[#].title", "[#1].title",
    ])
    func `reaches nothing by a handle that it was not given`(name: String) throws {
        _ = call("Bookshop.open(_:)", #"["Emma"]"#, id: 1)
        let answer = try #require(call(name, "[]", id: 2).first)
        #expect(answer.contains(#""code":-32001"#) || answer.contains(#""code":-32601"#), "\(answer)")
        #expect(!answer.contains("Emma"))
    }

    @Test func `gets a clear error for an object that is gone`() {
        _ = call("Bookshop.open(_:)", #"["Emma"]"#, id: 1)
        _ = post("rpc.release", "[[1,1]]", number: 2)
        let answer = call("Volume[#1].title", "[]", id: 3)
        #expect(answer.count == 1 && answer[0].contains(#""code":-32001,"message":"there is no object Volume[#1]"#))
        let named = call("Bookshop.echo", parcel(1..<2, kind: 0), id: 4, listing: "-1")
        #expect(named.count == 1 && named[0].contains(#""code":-32001"#))
    }

    @Test(arguments: [
        "[[1,1],[1,1]]", "[[1,5]]", "[[2,1]]", "[[1,0]]", "[[1,-1]]", "[[1]]", "[[-1,1]]", "[[9223372036854775807,1]]",
    ])
    func `gives back what it has not, which costs nobody else anything`(released: String) {
        let other = BookshopProxy(network.client())
        let parcel = try? network.loop.complete { try await other.open("Emma") }
        _ = call("Bookshop.open(_:)", #"["Emma"]"#, id: 1)
        _ = post("rpc.release", released, number: 2)
        _ = post("rpc.release", released, number: 3)
        let told = log.withLock { $0 }.filter { $0.contains("was given back") }
        #expect(told.count == 1)
        #expect(throws: Never.self) { try network.loop.complete { _ = try await parcel?.volume.title() } }
        #expect(call("Bookshop.drop", "[]", id: 4) == [#"{"jsonrpc":"2.0","id":4,"result":null}"#])
    }

    @Test func `has objects of its own, until it is told that they are not needed`() {
        _ = call("Bookshop.keep", parcel(5..<7), id: 1, listing: "5,6")
        #expect(peer.take() == [])
        let dropped = call("Bookshop.drop", "[]", id: 2)
        #expect(dropped.first == #"{"jsonrpc":"2.0","id":2,"result":null}"#)
        let released = dropped.dropFirst().first ?? ""
        #expect(released.contains(#""method":"rpc.release""#))
        #expect(released.contains("[5,1]") && released.contains("[6,1]"))
    }

    @Test func `gets back what its refused requests name`() {
        for (id, method) in ["Bookshop.nothing", "Bookshop.areSame", "Volume[#9].title", "Nowhere.at", "rpc.nothing"]
            .enumerated()
        {
            let said = call(method, #"["no parcel"]"#, id: id + 1, listing: "7")
            #expect(said.contains { $0.contains(#""error""#) })
            #expect(said.contains { $0.contains(#""method":"rpc.release","params":[[7,1]]"#) }, "\(said)")
        }
    }

    @Test func `gets back what an answer names that comes twice, or that nobody has asked for`() throws {
        let parcel = #"[{"volumes":[],"reader":{"__jsonrpc_marshaled":1,"handle":5,"service":"Reader"}},"Emma"]"#
        let asked = call("Bookshop.ask", parcel, id: 1, listing: "5")
        let call = try #require(asked.first { $0.contains("Reader[#5].likes") })
        let number = (call.split(separator: #""id":"#).last ?? "").prefix { $0.isNumber }
        let answer = #"{"jsonrpc":"2.0","id":\#(number),"result":true,"objects":[9]}"#
        let said = [answer, answer, answer.replacing("\(number),", with: "77,")].flatMap { says($0) }.joined()
        #expect(said.contains(#""id":1,"result":true"#))
        #expect(said.ranges(of: "[9,1]").count == 3 && said.contains("[5,1]"), "\(said)")
    }

    @Test func `names objects that its message does not list`() {
        let said = call("Bookshop.keep", parcel(5..<6), id: 1)
        #expect(said.count == 1 && said[0].contains(#""code":-32001"#))
        let other = call("Bookshop.keep", parcel(5..<6), id: 2, listing: "6")
        #expect(other.contains { $0.contains(#""code":-32001"#) })
        #expect(other.contains { $0.contains("[6,1]") })
        // Nor is one of the server, even if the peer has it.
        _ = call("Bookshop.open(_:)", #"["Emma"]"#, id: 3)
        let own = call("Bookshop.echo", parcel(1..<2, kind: 0), id: 4)
        #expect(own.count == 1 && own[0].contains(#""code":-32001"#))
    }

    @Test func `gives more objects than a session may have`() {
        _ = call("Bookshop.keep", parcel(1..<21), id: 1, listing: (1..<21).map(String.init).joined(separator: ","))
        let said = call("Bookshop.keep", parcel(21..<22), id: 2, listing: "21")
        #expect(said.contains { $0.contains(#""code":-32009"#) && $0.contains("maximumReferences") })
        #expect(said.contains { $0.contains("[21,1]") })
    }

    @Test func `asks for more objects than it may have`() {
        let titles = (1...20).map { #""\#($0)""# }.joined(separator: ",")
        _ = call("Bookshop.open(all:)", "[[\(titles)]]", id: 1)
        let said = call("Bookshop.open(_:)", #"["one more"]"#, id: 2)
        #expect(said.count == 1 && said[0].contains(#""code":-32009"#) && said[0].contains("maximumReferences"))
        _ = post("rpc.release", "[[1,1]]", number: 3)
        #expect(call("Bookshop.open(_:)", #"["one more"]"#, id: 4).first?.contains(#""result""#) == true)
    }

    @Test(arguments: [0, 1], [Int64.min, .min + 1, -5, 0, .max])
    func `names an object by a number that is no handle`(kind: Int, handle: Int64) {
        _ = call("Bookshop.open(_:)", #"["Emma"]"#, id: 1)
        let token = #"{"__jsonrpc_marshaled":\#(kind),"handle":\#(handle),"service":"Volume"}"#
        let said = call("Bookshop.keep", #"[{"volumes":[\#(token)]}]"#, id: 2, listing: "5,-1")
        #expect(said.contains { $0.contains(#""id":2,"error":{"code":-32001"#) }, "\(said)")
    }

    @Test func `is told only of the methods that an object has as its own service`() {
        _ = call("Bookshop.open(_:)", #"["Emma"]"#, id: 1)
        #expect(call("rpc.supports", #"["Volume[#1].title"]"#, id: 2) == [#"{"jsonrpc":"2.0","id":2,"result":true}"#])
        for (id, name) in ["Reader[#1].title", "Volume[#2].title", "Volume[#1].likes"].enumerated() {
            let answer = #"{"jsonrpc":"2.0","id":\#(id + 3),"result":false}"#
            #expect(call("rpc.supports", #"["\#(name)"]"#, id: id + 3) == [answer])
        }
    }

    @Test func `names an object deep inside other values`() {
        let deep = String(repeating: "[", count: 1_000) + #"{"__jsonrpc_marshaled":1,"handle":5}"#
        let said = call("Bookshop.keep", "[\(deep)\(String(repeating: "]", count: 1_000))]", id: 1, listing: "5")
        #expect(said.contains { $0.contains(#""id":1,"error":{"code":-32602"#) }, "\(said)")
        #expect(said.contains { $0.contains(#""method":"rpc.release","params":[[5,1]]"#) }, "\(said)")
    }

    @Test func `has an object that never answers`() throws {
        let parcel = #"[{"volumes":[],"reader":{"__jsonrpc_marshaled":1,"handle":5,"service":"Reader"}},"Emma"]"#
        let message = #""method":"Bookshop.ask","params":\#(parcel),"objects":[5],"timeout":1000"#
        #expect(says(#"{"jsonrpc":"2.0","id":1,\#(message)}"#).contains { $0.contains("Reader[#5].likes") })
        network.loop.advance(by: .seconds(1))
        let said = peer.take()
        #expect(said.contains { $0.contains(#""id":1,"error":{"code":-32052"#) }, "\(said)")
        #expect(said.contains { $0.contains("$/cancelRequest") }, "\(said)")
        network.loop.advance(by: .milliseconds(100))
        #expect((said + peer.take()).contains { $0.contains("[[5,1]]") })
    }

    @Test func `loses its session when it never takes its objects back`() {
        for number in 1...200 {
            let handles = (0..<100).map { "\(number * 100 + $0)" }.joined(separator: ",")
            peer.send(
                #"{"jsonrpc":"2.0","method":"Bookshop.nothing","params":[],"number":\#(number),"objects":[\#(handles)]}"#
            )
        }
        network.loop.advance(by: .milliseconds(10))
        #expect(log.withLock { $0 }.contains { $0.contains("does not take them back") })
    }
}
