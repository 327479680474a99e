// Calls that fail. An error that the protocol declares arrives as itself; any other says what became of the work.

import Protocols
import RPCServer
import RemoteProxy

let typedErrorAct = Act(
    "A thrown error that arrives typed",
    "Calculator says @Service(errors: ArithmeticFailure.self), so a plain catch finds it."
) { stage in
    let calculator: any Calculator = CalculatorProxy(stage.client)
    try await stage.show(
        "try await calculator.divide(1, by: 0)", throwing: typed(ArithmeticFailure.divisionByZero)
    ) {
        try await calculator.divide(1, by: 0)
    }
    stage.says("Any other error is an RPCError: what happened, and whether the work was done.")
    let missing: any Calculator = CalculatorProxy(stage.client, named: "missing")
    try await stage.show("try await missing.add(1, 2)", throwing: rpc(.noSuchObject, .notExecuted)) {
        try await missing.add(1, 2)
    }
}

let timeLimitAct = Act(
    "A timeout",
    "The server would take ten seconds. The caller gives it a fifth of one; the server is told to stop."
) { stage in
    let echo: any Echo = EchoProxy(stage.client)
    try await stage.show(
        #"""
        try await withCallTimeout(.milliseconds(200)) {
            try await echo.later("too late", afterMilliseconds: 10_000)
        }
        """#,
        throwing: rpc(.deadlineExceeded, nil)
    ) {
        try await withCallTimeout(.milliseconds(200)) {
            try await echo.later("too late", afterMilliseconds: 10_000)
        }
    }
}

let cancellationAct = Act(
    "A cancellation",
    "Swift's own: cancel the task, and the call in it ends here at once and on the server soon after."
) { stage in
    let echo: any Echo = EchoProxy(stage.client)
    let task = Task { try await echo.later("never mind", afterMilliseconds: 10_000) }
    // By then the call should have been sent.
    try await Task.sleep(for: .milliseconds(50))
    try await stage.show("task.cancel()\ntry await task.value", throwing: { $0 is CancellationError }) {
        task.cancel()
        return try await task.value
    }
}

let crashAct = Act(
    "A server that ends in the middle of a call",
    """
    Running the call a second time might do the work twice, so the library does not.
    The error says that the outcome is unknown, and the caller decides.
    """
) { stage in
    let (arrivals, arrived) = AsyncStream.makeStream(of: Void.self)
    try await stage.withServer(GreeterProxy(SlowGreeter(arrived: arrived))) { server, _, client in
        let greeter: any Greeter = GreeterProxy(client)
        let call = Task { try await greeter.greet("Brutus") }
        for await _ in arrivals { break }
        try await stage.show(
            "await server.stop(grace: .zero)\ntry await call.value", throwing: rpc(.connectionLost, .unknown)
        ) {
            await server.stop(grace: .zero)
            return try await call.value
        }
    }
}

private struct SlowGreeter: Greeter {
    let arrived: AsyncStream<Void>.Continuation

    func greet(_ name: String) async throws -> String {
        arrived.yield()
        try await Task.sleep(for: .seconds(10))
        return "Et tu, \(name)?"
    }
}
