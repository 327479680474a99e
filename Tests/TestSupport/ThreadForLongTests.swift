// Where tests compute for long: one after the other on one thread, so that the few threads that tasks share, and most of
// the processor, are left to the tests whose calls have to be in time.

import RPCSockets
import RPCWire
package import Testing

package struct ThreadForLongTests: TestTrait, SuiteTrait, TestScoping {
    package let isRecursive = true
    private static let loop = try? EventLoop(name: "long tests")

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(Self.loop) { try await function() }
    }
}

extension Trait where Self == ThreadForLongTests {
    /// For a test, or a suite of tests, that computes for long.
    package static var computesForLong: Self { ThreadForLongTests() }
}
