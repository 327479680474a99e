public import RemoteProxy

/// Says hello.
@Service
public protocol Greeter: Sendable {
    func greet(_ name: String) async throws -> String
}
