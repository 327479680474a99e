// Stands in for the package swift-service-lifecycle: the part of its interface that the article "Deploying" uses.

package protocol Service: Sendable {
    func run() async throws
}

/// Only here: the real one runs several services, and obeys signals.
package final class ServiceGroup: Sendable {
    @TaskLocal static var current: ServiceGroup?

    private let service: any Service
    private let (shutdowns, shutDown) = AsyncStream.makeStream(of: Void.self)

    package init(_ service: any Service) { self.service = service }

    package func run() async throws {
        try await Self.$current.withValue(self) { try await service.run() }
    }

    package func triggerGracefulShutdown() { shutDown.finish() }

    func waitForShutdown() async { for await _ in shutdowns {} }
}

package func withGracefulShutdownHandler<Result>(
    operation: () async throws -> Result, onGracefulShutdown handler: @Sendable @escaping () -> Void
) async rethrows -> Result {
    let group = ServiceGroup.current
    let waiting = Task {
        await group?.waitForShutdown()
        handler()
    }
    defer { waiting.cancel() }
    return try await operation()
}
