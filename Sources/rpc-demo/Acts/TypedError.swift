// Errors: those the protocol declares arrive as themselves, all others say what became of the work.

import Protocols
import RemoteProxy

struct TypedError: Act {
    let client: RPCClient

    let title = "A thrown error that arrives typed"
    let story = "Calculator says @Service(errors: ArithmeticFailure.self), so a plain catch finds it."

    func play(on stage: Stage) async throws {
        let calculator: any Calculator = CalculatorProxy(client)

        try await stage.show(
            "try await calculator.divide(1, by: 0)", throwing: .typed(ArithmeticFailure.divisionByZero)
        ) {
            try await calculator.divide(1, by: 0)
        }
        try await stage.show(
            "try await calculator.add(.max, 1)", throwing: .typed(ArithmeticFailure.overflow)
        ) {
            try await calculator.add(.max, 1)
        }

        stage.says("What nobody declared is an RPCError: what happened, and whether the work was done.")
        let nobody: any Calculator = CalculatorProxy(client, named: "nobody")
        try await stage.show("try await nobody.add(1, 2)", throwing: .rpc(.unimplemented, .notExecuted)) {
            try await nobody.add(1, 2)
        }
    }
}
