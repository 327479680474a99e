// Proxies that do not keep their objects alive.

import RPCSockets
import RPCWire
import RemoteProxy
import Testing

@Service
private protocol Door: Sendable {
    func open(_ number: Int) async throws -> Int
    func knock(_ number: Int)
}

private final class RealDoor: Door {
    private let numbers = Lock<[Int]>([])
    var knocks: [Int] { numbers.withLock { $0 } }

    func open(_ number: Int) async throws -> Int {
        guard number >= 0 else { throw RPCError(.busy, "no more doors", outcome: .notExecuted) }
        return number
    }
    func knock(_ number: Int) { numbers.withLock { $0.append(number) } }
}

/// Opens another door in turn.
private final class OuterDoor: Door {
    private let inner: DoorProxy

    init(inner: DoorProxy) { self.inner = inner }

    func open(_ number: Int) async throws -> Int { try await inner.open(number) }
    func knock(_ number: Int) {}
}

private actor GuardedDoor: Door {
    func open(_ number: Int) async throws -> Int { number }
    nonisolated func knock(_ number: Int) {}
}

private struct PaperDoor: Door {
    func open(_ number: Int) async throws -> Int { number }
    func knock(_ number: Int) {}
}

@Service
private protocol BoundDoor: AnyObject, Sendable {
    func open(_ number: Int) async throws -> Int
}

private final class RealBoundDoor: BoundDoor {
    func open(_ number: Int) async throws -> Int { number }
}

@MainActor @Service
private protocol Bell: Sendable {
    func ring(_ number: Int)
}

@MainActor
private final class RealBell: Bell {
    private(set) var rung: [Int] = []

    func ring(_ number: Int) { rung.append(number) }
}

@Suite struct `Weak proxies` {
    @Test func `an object is reached while somebody else keeps it, and then is gone`() async throws {
        var door: RealDoor? = RealDoor()
        let proxy = DoorProxy.weak(try #require(door))
        #expect(try await proxy.open(1) == 1)
        proxy.knock(2)
        #expect(door?.knocks == [2])
        door = nil
        proxy.knock(3)
        let error = await #expect(throws: RPCError.self) { try await proxy.open(1) }
        #expect(error?.code == .noSuchObject)
        #expect(error?.outcome == .notExecuted)
        #expect(error?.message.contains("Door") == true)
    }

    @Test func `an object says of itself that it has done nothing`() async throws {
        let door = RealDoor()
        let error = await #expect(throws: RPCError.self) { try await DoorProxy.weak(door).open(-1) }
        #expect(error?.code == .busy)
        #expect(error?.outcome == .notExecuted)
    }

    @Test func `what the object could not reach in turn was executed all the same`() async throws {
        let outer = OuterDoor(inner: DoorProxy(RealDoor()))
        let error = await #expect(throws: RPCError.self) { try await DoorProxy.weak(outer).open(-1) }
        #expect(error?.code == .busy)
        #expect(error?.outcome == .executed)
    }

    @Test func `actors and objects of class-bound protocols can be weak`() async throws {
        var guarded: GuardedDoor? = GuardedDoor()
        var bound: RealBoundDoor? = RealBoundDoor()
        let weakGuarded = DoorProxy.weak(try #require(guarded))
        let weakBound = BoundDoorProxy.weak(try #require(bound))
        #expect(try await weakGuarded.open(1) == 1)
        #expect(try await weakBound.open(2) == 2)
        guarded = nil
        bound = nil
        await #expect(throws: RPCError.self) { try await weakGuarded.open(1) }
        await #expect(throws: RPCError.self) { try await weakBound.open(1) }
    }

    @MainActor
    @Test func `an object on the main actor is called in place`() throws {
        var bell: RealBell? = RealBell()
        let proxy = BellProxy.weak(try #require(bell))
        proxy.ring(1)
        #expect(bell?.rung == [1])
        weak let gone = bell
        bell = nil
        #expect(gone == nil)
        proxy.ring(2)
    }
}
