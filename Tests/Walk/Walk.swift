// Calls `add(2, 3)` over a connection that has been used before, and notes the functions that one such call runs through at both ends.

import Protocols
import RPCServer
import RemoteProxy
import Subjects

@_silgen_name("walk_start") func startWalk()
@_silgen_name("walk_stop") func stopWalk()

@main struct Walk {
    static func main() async throws {
        let server = RPCServer()
        server.export(CalculatorProxy(CheckedCalculator()))
        let client = RPCClient(try await server.listen(on: "tcp://127.0.0.1:0"))
        let calculator = CalculatorProxy(client)
        for number in 0..<20 { _ = try await calculator.add(number, 3) }
        for _ in 0..<20 {
            startWalk()
            let sum = try await calculator.add(2, 3)
            stopWalk()
            precondition(sum == 5)
        }
        await client.close()
        await server.stop()
    }
}
