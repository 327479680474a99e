// The names of a message's members as numbers.

import Testing

@testable import RPCWire

@Suite struct `Member names` {
    @Test func `each number spells its name`() {
        #expect(
            Envelope.Name.allCases.map(\.text) == [
                "jsonrpc", "method", "params", "id", "result", "error", "timeout", "number", "inside",
                "transfer", "metadata", "objects",
            ])
        #expect(Envelope.Name.allCases.allSatisfy { "\($0)" == $0.text })
    }
}
