// Which session has to go when there are too many.

import Testing

@testable import RemoteProxy

@Suite struct `Unclaimed sessions` {
    private let alice = Identity(name: "alice")
    private let bob = Identity(name: "bob")
    private var sessions = UnclaimedSessions()

    private mutating func lose(_ id: String, _ owner: Identity?, _ leftAt: Int) {
        sessions.append(.init(id: id, leftAt: leftAt), of: owner, among: 10) { _ in true }
    }

    @Test mutating func `the oldest of the same owner goes first, and then the oldest of all`() {
        lose("a", alice, 1)
        lose("n", nil, 2)
        lose("b", bob, 3)
        lose("bb", bob, 4)
        let order = (0..<5).map { _ in sessions.takeFirst(preferring: bob) { _ in true }?.id }
        #expect(order == ["b", "bb", "a", "n", nil])
    }

    @Test mutating func `a session that was claimed is passed over`() {
        lose("a", alice, 1)
        lose("b", bob, 2)
        lose("a", alice, 3)
        #expect(sessions.takeFirst(preferring: nil) { $0.leftAt > 1 }?.id == "b")
        #expect(sessions.takeFirst(preferring: alice) { $0.leftAt > 1 } == .init(id: "a", leftAt: 3))
        #expect(sessions.count == 0)
    }

    @Test mutating func `clients that come and go for ever leave no trail`() {
        for loss in 0..<100_000 {
            sessions.append(.init(id: "a", leftAt: loss), of: alice, among: 1) { $0.leftAt == loss }
        }
        #expect(sessions.count < 20)
    }
}
