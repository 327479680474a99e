import CSystem
import RPCWire
import TestSupport
import Testing

@testable import RPCSockets

@Suite(.waitsForOthers) struct DescriptorShortageTests {
    /// In a process of its own, because the whole process runs out of descriptors.
    @Test func `without free descriptors a server keeps serving, refuses politely, rests, and recovers`() async {
        await #expect(processExitsWith: .success) {
            try await DescriptorShortageTests.shortage()
        }
    }

    private static func shortage() async throws {
        try await withLoop { loop in
            let server = try await EchoServer(on: loop)
            let address = try #require(Resolver.literal(server.endpoint))
            let old = try Socket.make(for: address)
            try #require(old.connect(to: server.endpoint))
            old.write("before\n")
            try #require(old.read() == "before\n")
            // These must exist before the table is full.
            let (refused, later) = (try Socket.make(for: address), try Socket.make(for: address))

            var fillers: [Int32] = []
            while case let filler = dup(0), filler >= 0 { fillers.append(filler) }

            // Accepting fails, and the peer is told instead of left in the dark.
            try #require(refused.connect(to: server.endpoint))
            let workBefore = processTime()
            #expect(refused.wait(for: POLLIN))
            #expect(refused.read(milliseconds: 0) == nil)
            old.write("during\n")
            #expect(old.read() == "during\n")
            // Nobody is there to be served, and the full table must not keep the loop busy.
            _ = old.wait(for: POLLIN, milliseconds: 250)
            #expect(processTime() - workBefore < 0.1)

            for filler in fillers { close(filler) }
            try #require(later.connect(to: server.endpoint))
            later.write("after\n")
            #expect(later.read() == "after\n")
        }
    }

    @Test
    func `a listener says each time that it has none, rests, refuses all who come, and says when it has some again`()
        async
    {
        await #expect(processExitsWith: .success) {
            try await DescriptorShortageTests.twoShortages()
        }
    }

    private static func twoShortages() async throws {
        try await withLoop { loop in
            let (lines, resting) = (Diary<String>(), Diary<Bool>())
            let accepted = Lock<[Socket]>([])
            let others = try await loop.perform { loop.state.registrations.count }
            let listener = try await listener(on: loop, accepted) { line in
                lines.note(line)
                // Behind what the listener does after that.
                loop.submit { resting.note(loop.state.registrations.count == others) }
            }
            let address = try #require(Resolver.literal(listener.endpoint))
            for round in 1...2 {
                // These must exist before the table is full.
                let (refused, later) = (
                    try (0..<2).map { _ in try Socket.make(for: address) }, try Socket.make(for: address)
                )
                var fillers: [Int32] = []
                while case let filler = dup(0), filler >= 0 { fillers.append(filler) }
                for socket in refused {
                    try #require(socket.connect(to: listener.endpoint))
                    #expect(socket.wait(for: POLLIN))
                    #expect(socket.read(milliseconds: 0) == nil)
                }
                for filler in fillers { close(filler) }
                try #require(later.connect(to: listener.endpoint))
                await until { accepted.withLock { $0.count } == round }
            }
            // What was submitted with the last line.
            try await loop.perform {}
            #expect(lines.all.map { $0.hasSuffix("accepts again") } == [false, true, false, true])
            #expect(resting.all == [true, false, true, false])
            listener.close()
        }
    }

    @Test func `a connection that waits when descriptors are free again is served, and the pause ends`() async {
        await #expect(processExitsWith: .success) {
            try await DescriptorShortageTests.shortShortage()
        }
    }

    private static func shortShortage() async throws {
        try await withLoop { loop in
            let (lines, fillers) = (Diary<String>(), Lock<[Int32]>([]))
            let accepted = Lock<[Socket]>([])
            let others = try await loop.perform { loop.state.registrations.count }
            let listener = try await listener(on: loop, accepted) { line in
                lines.note(line)
                // Between the attempt that failed and the refusal.
                let closing = fillers.withLock { open in
                    defer { open = [] }
                    return open
                }
                for filler in closing { close(filler) }
            }
            let address = try #require(Resolver.literal(listener.endpoint))
            let peers = try (0..<2).map { _ in try Socket.make(for: address) }
            // The listener looks once all of them are open.
            try await loop.perform {
                for peer in peers { _ = address.withPointer { CSystem.connect(peer.descriptor, $0, $1) } }
                fillers.withLock { while case let filler = dup(0), filler >= 0 { $0.append(filler) } }
            }
            await until { accepted.withLock { $0.count } == peers.count }
            #expect(try await loop.perform { loop.state.registrations.count } == others + 1)
            #expect(lines.all.map { $0.hasSuffix("accepts again") } == [false, true])
            listener.close()
        }
    }

    private static func listener(
        on loop: EventLoop, _ accepted: Lock<[Socket]>, report: @escaping Listener.Report
    ) async throws -> Listener {
        try await Listener.listen(on: .tcp(host: "127.0.0.1", port: 0), loop: loop, report: report) { socket, _ in
            accepted.withLock { $0.append(socket) }
        }
    }

    /// Seconds of processor time that the process has used.
    private static func processTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
