// The service of `SupportsTests` as it was before it gained methods: what a server that was built earlier exports.

import RPCSockets
import RPCWire
import RemoteProxy

@Service
private protocol Feed: Sendable {
    func load() async throws -> [String]
}

private struct PlainFeed: Feed {
    func load() async throws -> [String] { ["old"] }
}

/// Counts how often it is asked what it has.
private struct CountingQuestions<Service: Sendable>: WrappingSubject, SelectiveSubject {
    let next: any Subject<Service>
    let count: Lock<Int>

    func has(_ method: MethodSignature) async throws -> Bool {
        count.withLock { $0 += 1 }
        return try await next.supports(method)
    }
}

/// - Parameter count: how often it has been asked what it has.
func earlierFeed(counting count: Lock<Int> = Lock(0)) -> any ServiceProxy {
    FeedProxy(subject: CountingQuestions(next: FeedProxy(PlainFeed()).proxySubject, count: count))
}
