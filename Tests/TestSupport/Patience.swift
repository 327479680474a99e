// Time for tests that wait for other threads, processes or sockets, said once: what is tested is what comes after what, and
// a machine with much else to do takes as long over it as it takes.

package import RemoteProxy
package import Testing

extension Trait where Self == TimeLimitTrait {
    /// For tests that wait for what somebody else does: where something has gone wrong that may never be done, and the whole
    /// run would stand still.
    package static var waitsForOthers: Self { .timeLimit(.minutes(10)) }
}

extension RPCClient.Configuration {
    /// Gives each call longer than the test itself may take. Half a minute is enough for a program and not for one of many
    /// tests on two processors.
    package static var patient: Self {
        var configuration = Self()
        configuration.timeout = .seconds(3_600)
        configuration.log = { _ in }
        return configuration
    }
}

/// Gives every wait of a test for its turn or for an object as long, unless the test says less. Nothing for tests that move
/// the clock.
package struct Patience: TestTrait, SuiteTrait, TestScoping {
    package let isRecursive = true

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        try await withCallTimeout(.seconds(3_600)) { try await function() }
    }
}

extension Trait where Self == Patience {
    /// For tests in real time whose waits come to an end.
    package static var hasTime: Self { Patience() }
}

/// Looks again and again whether something has been done that nobody announces; gives up when the test has run out of time.
package func until(_ condition: () async throws -> Bool) async rethrows {
    while try await !condition(), !Task.isCancelled { await Task.yield() }
}
