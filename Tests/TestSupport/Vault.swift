// A module boundary: the service and its proxy can be seen from outside, the object cannot.

import RPCSockets
import RPCWire
public import RemoteProxy

/// What can be had from outside.
@Service
public protocol Vault: Sendable {
    func look() async throws -> String
    func empty() async throws
}

/// The only way to a vault from another module.
public func makeVault(guardedBy policy: AccessPolicy) -> VaultProxy {
    VaultProxy(HiddenVault()).guarded(by: policy)
}

internal final class HiddenVault: Vault {
    private let content = Lock("gold")

    func look() async throws -> String { content.withLock { $0 } }
    func empty() async throws { content.withLock { $0 = "" } }
}
