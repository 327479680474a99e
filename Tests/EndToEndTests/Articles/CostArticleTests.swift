// The code of the article "What a call costs".

import Protocols
import RPCServer
import RemoteProxy
import Subjects
import TestSupport
import Testing

@Suite(.waitsForOthers) struct `What a call costs` {
    @Test func `a task can run where its answers arrive`() async throws {
        let server = RPCServer()
        server.export(CalculatorProxy(CheckedCalculator()))
        let url = try await server.listen(on: "tcp://127.0.0.1:0")

        let client = RPCClient(url)

        let calculator: any Calculator = CalculatorProxy(client)
        let sum = try await Task(executorPreference: client.executor) {
            try await calculator.add(1, 2)
        }.value
        #expect(sum == 3)
        // Enough of them for both ends to find that looking out pays, and to go on.
        let total = try await Task(executorPreference: client.executor) {
            var total = 0
            for number in 1...2_000 { total = try await calculator.add(total, number) }
            return total
        }.value
        #expect(total == 2_001_000)
        client.close()
        await server.stop()
    }
}
