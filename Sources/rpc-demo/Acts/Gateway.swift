// A proxy can be exported like any object, also one whose subject is on another server.

import Protocols
import RPCServer
import RemoteProxy

struct Gateway: Act {
    let upstream: RPCClient

    let title = "A gateway in one line"
    let story = "A second server exports a proxy for the first one's calculator. Errors cross it as themselves."

    func play(on stage: Stage) async throws {
        let gateway = RPCServer()
        try await stage.show("gateway.export(CalculatorProxy(upstream))") {
            gateway.export(CalculatorProxy(upstream))
        }
        let url = try await gateway.listen(on: "tcp://127.0.0.1:0")

        let client = RPCClient(url)
        let calculator: any Calculator = CalculatorProxy(client)
        try await stage.show("try await calculator.add(40, 2)", expecting: 42) {
            try await calculator.add(40, 2)
        }
        try await stage.show(
            "try await calculator.divide(42, by: 0)", throwing: .typed(ArithmeticFailure.divisionByZero)
        ) {
            try await calculator.divide(42, by: 0)
        }
        client.close()
        await gateway.stop()
    }
}
