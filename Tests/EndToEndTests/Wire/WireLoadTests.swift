// A great many calls in one write: each is answered exactly once, and a neighbour does not wait for the last of them.

import Testing

@Suite struct `Pipelining` {
    @Test(arguments: WireFraming.allCases)
    func `each of many pipelined calls is answered once while a neighbour is served`(framing: WireFraming) async throws
    {
        let count = 20_000
        try await withWire { url in
            let (busy, neighbour) = (try RawClient(url, framing), try RawClient(url))
            // Who says nothing at all for long is taken for nobody.
            _ = try neighbour.ask(#"{"jsonrpc":"2.0","method":"Counter.value","id":0}"#)
            var bytes: [UInt8] = []
            for id in 0..<count {
                bytes += framing.frame(
                    #"{"jsonrpc":"2.0","method":"Calculator.add","params":[\#(id),1],"id":\#(id)}"#)
            }
            busy.sendBeside(bytes)
            var missing = Set(0..<count)
            for heard in 0..<count {
                let reply = try #require(try busy.hear())
                let id = try #require(reply.dropFirst(#"{"jsonrpc":"2.0","id":"#.count).prefix { $0 != "," }.asInt)
                #expect(missing.remove(id) != nil && reply.hasSuffix(#""result":\#(id + 1)}"#))
                if heard == count / 100 {
                    for _ in 0..<10 {
                        let value = try neighbour.ask(#"{"jsonrpc":"2.0","method":"Counter.value","id":1}"#)
                        #expect(try brief(value) == "1=0")
                    }
                }
            }
            #expect(missing.isEmpty)
            busy.finish()
            #expect(try busy.rest() == "")
        }
    }
}

extension Substring {
    fileprivate var asInt: Int? { Int(self) }
}
