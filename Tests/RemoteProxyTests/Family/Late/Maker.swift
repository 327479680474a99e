// Who makes the objects of lazy proxies in these tests.

import RPCSockets
import RPCWire
import TestSupport

@testable import RemoteProxy

/// Makes probes, and counts them.
final class Maker: Sendable {
    struct Failure: Error {}

    let loop = ManualLoop()
    private let made = Lock<[RecordingProbe]>([])
    private let attempts = Lock(0)
    private let failures: Int
    private let duration: Duration

    init(failures: Int = 0, taking duration: Duration = .zero) {
        self.failures = failures
        self.duration = duration
    }

    var count: Int { attempts.withLock { $0 } }
    var probes: [RecordingProbe] { made.withLock { $0 } }

    func make() async throws -> RecordingProbe {
        let number = attempts.withLock { attempts in
            attempts += 1
            return attempts
        }
        if duration > .zero { try await loop.sleep(for: duration) }
        guard number > failures else { throw Failure() }
        let probe = RecordingProbe(loop)
        made.withLock { $0.append(probe) }
        return probe
    }

    func proxy(keepingAlive: Duration? = nil, timeout: Duration = .seconds(30), limit: Int = 10) -> ProbeProxy {
        .lazy(keepingAlive: keepingAlive, timeout: timeout, maximumKeptPosts: limit, on: loop, executor: loop) {
            try await self.make()
        }
    }

    /// What a call on the loop has come to.
    func start(
        within limit: Duration? = nil, _ call: @escaping @Sendable () async throws -> Int
    ) -> StartedCall {
        StartedCall(on: loop, within: limit, call)
    }
}

extension ServiceProxy {
    /// How many posts a lazy or late-bound proxy has dropped.
    var refusedPosts: Int { (proxySubject as? LateSubject<ProxiedService>)?.refusedPosts ?? 0 }
}
