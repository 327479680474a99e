// The kinds of proxies that are measured against the direct call, each as a user writes it.

import RemoteProxy

struct LocalKind: Sendable {
    let name: String
    let abacus: any Abacus
    var shape = LocalShape.call
    /// Whether the goal of the workload is for it.
    var isBound = false

    /// - Parameter apart: for what changes how the object is counted from then on, whoever keeps it.
    static func all(around object: WoodenAbacus, and other: WoodenAbacus, apart: WoodenAbacus) -> [LocalKind] {
        let plain = AbacusProxy(object)
        let fresh = plain.cached(in: .memory, CachePolicy(freshFor: .seconds(3_600)))
        let policy = AccessPolicy { _ in .allow }
        let handle = AbacusProxy.counted { object }.handle()
        let lazy = AbacusProxy.lazy { object }
        let (bound, binding) = AbacusProxy.unbound()
        try? binding.bind(to: object)
        return [
            LocalKind(name: "proxy", abacus: plain, isBound: true),
            LocalKind(name: "proxy_post", abacus: plain, shape: .post, isBound: true),
            LocalKind(name: "weak", abacus: AbacusProxy.weak(object), isBound: true),
            LocalKind(name: "weak_post", abacus: AbacusProxy.weak(object), shape: .post),
            LocalKind(name: "weak_reference_post", abacus: WeakReference(object), shape: .post),
            LocalKind(name: "weak_by_hand_post", abacus: WeakByHand(apart), shape: .post),
            LocalKind(name: "lazy", abacus: lazy, isBound: true),
            LocalKind(name: "lazy_post", abacus: lazy, shape: .post),
            LocalKind(name: "lazy_idle", abacus: AbacusProxy.lazy(keepingAlive: .seconds(60)) { object }),
            LocalKind(name: "unbound", abacus: bound, isBound: true),
            LocalKind(name: "unbound_post", abacus: bound, shape: .post),
            LocalKind(name: "guarded", abacus: plain.guarded(by: policy), isBound: true),
            LocalKind(name: "guarded_post", abacus: plain.guarded(by: policy), shape: .post),
            LocalKind(name: "observed", abacus: plain.observed { _ in }),
            LocalKind(name: "counted", abacus: handle),
            LocalKind(name: "locked", abacus: plain.locked()),
            LocalKind(name: "retrying", abacus: plain.retrying()),
            LocalKind(name: "time_limit", abacus: plain.with(timeout: .seconds(10))),
            LocalKind(name: "failover", abacus: AbacusProxy.failover([plain, plain])),
            LocalKind(name: "multicast_to_two", abacus: AbacusProxy.multicast([object, other]), shape: .post),
            LocalKind(name: "cached", abacus: fresh, shape: .read),
            LocalKind(name: "cached_by_argument", abacus: SameQuestion(abacus: fresh)),
        ]
    }
}

/// An object whose type the optimiser cannot see, so that it is called and not copied into the place of the call.
@inline(never)
@_optimize(none)
func disguised(_ abacus: any Abacus) -> any Abacus { abacus }

/// Asks for one sum again and again, so that a cache has it, and counts for itself.
private struct SameQuestion: Abacus {
    let abacus: any Abacus
    func add(_ a: Int, _ b: Int) async throws -> Int { a + (try await abacus.add(0, 1)) }
    func total() async throws -> Int { try await abacus.total() }
    func note(_ number: Int) { abacus.note(number) }
}

/// What one would write where a protocol is nothing for `@Service`.
extension WeakReference: Abacus where Object: Abacus {
    func add(_ a: Int, _ b: Int) async throws -> Int { try await object?.add(a, b) ?? 0 }
    func total() async throws -> Int { try await object?.total() ?? 0 }
    func note(_ number: Int) { object?.note(number) }
}

/// What one would write without the library.
private final class WeakByHand: Abacus, @unchecked Sendable {
    private weak var abacus: WoodenAbacus?
    init(_ abacus: WoodenAbacus) { self.abacus = abacus }
    func add(_ a: Int, _ b: Int) async throws -> Int { try await abacus?.add(a, b) ?? 0 }
    func total() async throws -> Int { try await abacus?.total() ?? 0 }
    func note(_ number: Int) { abacus?.note(number) }
}
