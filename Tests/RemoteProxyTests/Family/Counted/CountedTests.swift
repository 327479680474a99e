// An object that is there while somebody holds it: handles and calls, alone and a thousand at once.

import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Suite(.waitsForOthers) struct `A counted object` {
    private let loop = ManualLoop()
    private let nursery = Nursery()
    private var child: ChildProxy { nursery.child(on: loop) }

    @Test func `is there for the time of a call that nobody else holds it for`() async throws {
        let child = self.child
        #expect(nursery.made == 0)
        for number in 1...3 {
            #expect(try await child.number() == number)
            await until { nursery.told == number }
        }
    }

    @Test func `is there while there is a copy of a handle, and made again for the next`() async throws {
        let child = self.child
        var handle: ChildProxy? = child.handle()
        await until { nursery.made == 1 }
        var copy = handle
        #expect(try await child.number() == 1)
        #expect(try await copy?.number() == 1)
        handle = nil
        #expect(try await child.number() == 1)
        #expect(nursery.told == 0)
        copy = nil
        await until { nursery.told == 1 }
        #expect(try await child.handle().number() == 2)
        _ = (handle, copy)
    }

    @Test func `is counted exactly when a thousand handles come and go at once`() async throws {
        let child = self.child
        let numbers = try await withThrowingTaskGroup(of: Int.self) { group in
            for round in 0..<1_000 {
                group.addTask {
                    let handle = child.handle()
                    if round.isMultiple(of: 7) { await Task.yield() }
                    let number = try await handle.number()
                    let again = try await handle.number()
                    #expect(number == again, "while it is held it is the same")
                    return number
                }
            }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        await until { nursery.told == nursery.made }
        #expect(nursery.most == 1)
        #expect(numbers.max() ?? 0 <= nursery.made)
        #expect(try await child.number() == nursery.made)
    }

    @Test func `keeps the layers around it in its handles`() async throws {
        let child = self.child.locked()
        let handle = child.handle()
        let number = try await handle.exclusively { try await handle.number() }
        #expect(number == 1)
        let plain = ChildProxy(try nursery.make())
        #expect(plain.handle().proxySubject is LocalSubject<any Child>)
    }
}
