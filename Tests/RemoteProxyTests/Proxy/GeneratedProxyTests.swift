// What a generated proxy tells about its methods, and how a post that was kept finds its way.

import RPCSockets
import RPCWire
import RemoteProxy
import Testing

@Service
private protocol Marked: Sendable {
    @ReadOnly func find(_ number: Int) async throws -> Int
    @Idempotent func put(_ number: Int) async throws
    func add(_ number: Int)
    @RemoteProxy.Idempotent func add(twice number: Int)
}

@MainActor @Service
private protocol Screen: Sendable {
    func show(_ number: Int)
}

@MainActor
private final class RecordingScreen: Screen {
    private(set) var shown: [Int] = []

    func show(_ number: Int) { shown.append(number) }
}

/// Keeps posts, and delivers them to the next subject when told to.
private final class KeepingSubject<Service: Sendable>: WrappingSubject {
    let next: any Subject<Service>
    private let kept = Lock<[@Sendable () async -> Void]>([])

    init(_ next: any Subject<Service>) { self.next = next }

    func post<Arguments>(_ post: Post<Service, Arguments>, _ arguments: Arguments, now: (Service) -> Void) {
        kept.withLock { $0.append { [next] in await post(through: next, arguments) } }
    }

    func deliver() async {
        let posts = kept.withLock { kept in
            defer { kept = [] }
            return kept
        }
        for post in posts { await post() }
    }
}

@Suite struct `Generated proxies` {
    @Test func `marks say what running a method does`() {
        let signatures = MarkedProxy._methodTable.signatures
        #expect(signatures.map(\.effect) == [.readOnly, .idempotent, .changes, .idempotent])
        #expect(signatures.map(\.isRepeatable) == [true, true, false, true])
    }

    @Test func `each method has a name, which is the one in its signature`() {
        let names: [MarkedProxy.MethodName] = [.find, .put, .`add(_:)`, .`add(twice:)`]
        #expect(names.map(\.name) == MarkedProxy._methodTable.signatures.map(\.name))
        #expect(MarkedProxy.MethodName(name: "find") == .find)
    }

    @MainActor
    @Test func `a post that was kept goes through the next subject on its own actor`() async {
        let screen = RecordingScreen()
        let subject = KeepingSubject(KeepingSubject(ScreenProxy(screen).proxySubject))
        let proxy = ScreenProxy(subject: subject)
        proxy.show(1)
        proxy.show(2)
        await subject.deliver()
        #expect(screen.shown == [])
        await (subject.next as? KeepingSubject<any Screen>)?.deliver()
        #expect(screen.shown == [1, 2])
    }
}
