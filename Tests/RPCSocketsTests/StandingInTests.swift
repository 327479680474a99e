// A caller that stands in for the sleeping thread of a loop.

import Foundation
import RPCWire
import Synchronization
import TestSupport
import Testing

@testable import RPCSockets

/// A loop whose thread sleeps, and a stream on it at which it pays to look out.
private struct SleepingLoop: Sendable {
    let loop: EventLoop
    let pair: StreamPair

    init(_ backend: EventLoop.Backend = .best) async throws {
        loop = try EventLoop(name: "sleeping", backend: backend)
        pair = try StreamPair(on: loop)
        await isWorthwhile()
    }

    /// For a caller elsewhere.
    func isWorthwhile() async {
        await loop.perform { [loop] in
            // Also with one processor.
            loop.looksOut = true
            for _ in 0..<8 { loop.lookout.slept(nanoseconds: 500_000) }
            loop.isCallerElsewhere = true
        }
    }

    /// Stands in as soon as the loop's thread sleeps, and asks `hasCome` after each look. Answers who did.
    @discardableResult
    func standIn(until hasCome: @escaping @Sendable (_ look: Int) -> Bool) async -> UInt {
        let thread = await blocking {
            var looks = 0
            while looks == 0 {
                pair.near.lookOut(isAlone: true) {
                    guard loop.isCurrent else { return true }
                    looks += 1
                    return hasCome(looks)
                }
            }
            return SystemThread.current
        }
        return (try? thread.get()) ?? 0
    }

    /// As a caller does whose answer is there at once.
    func leaveMuted() async {
        let before = pair.nearReceiver.record.bytes.count
        await standIn { [pair] look in
            if look == 1 { Self.write("answer", to: pair) }
            return pair.nearReceiver.record.bytes.count > before
        }
    }

    static func write(_ text: String, to pair: StreamPair) {
        pair.far.append(text)
        pair.far.writeQueued()
    }
}

@Suite(.waitsForOthers) struct `A caller that stands in for the loop's thread` {
    private func withSleepingLoop(_ body: (SleepingLoop) async throws -> Void) async throws {
        #if os(Linux)
            let sleeping = try await SleepingLoop()
            defer { sleeping.loop.shutdown() }
            try await body(sleeping)
        #endif
    }

    @Test func `delivers what comes, on the loop`() async throws {
        try await withSleepingLoop { sleeping in
            await sleeping.leaveMuted()
            let record = sleeping.pair.nearReceiver.record
            #expect(record.bytes == Array("answer\n".utf8))
            #expect(record.callsOffLoop == 0)
        }
    }

    @Test func `does not have the loop behind that, and it goes on`() async throws {
        try await withSleepingLoop { sleeping in
            for number in 0..<100 {
                await sleeping.isWorthwhile()
                await sleeping.leaveMuted()
                #expect(await handedOver { answer in sleeping.loop.submit { answer(number) } } == number)
            }
            #expect(sleeping.pair.nearReceiver.record.callsOffLoop == 0)
        }
    }

    @Test func `leaves to the loop's thread what comes later`() async throws {
        try await withSleepingLoop { sleeping in
            await sleeping.leaveMuted()
            SleepingLoop.write("unasked", to: sleeping.pair)
            await sleeping.pair.nearReceiver.wait { $0.bytes == Array("answer\nunasked\n".utf8) }
            #expect(sleeping.pair.nearReceiver.record.callsOffLoop == 0)
        }
    }

    @Test func `leaves to it what never comes, and the stream is heard`() async throws {
        try await withSleepingLoop { sleeping in
            await sleeping.standIn { _ in false }
            await sleeping.loop.perform { #expect(!sleeping.pair.near.isMuted) }
            SleepingLoop.write("late", to: sleeping.pair)
            await sleeping.pair.nearReceiver.wait { $0.bytes == Array("late\n".utf8) }
        }
    }

    @Test func `leaves to it the work that comes of it, and what others want done`() async throws {
        try await withSleepingLoop { sleeping in
            for wants in [true, false] {
                await sleeping.isWorthwhile()
                let threads = Diary<UInt>()
                let isDone = Barrier()
                let substitute = await sleeping.standIn { look in
                    guard look == 1 else { return false }
                    let work: @Sendable () -> Void = {
                        threads.note(SystemThread.current)
                        isDone.open()
                    }
                    if wants {
                        Thread.detachNewThread { sleeping.loop.submit(work) }
                    } else {
                        sleeping.loop.submit(work)
                    }
                    return false
                }
                _ = await blocking { isDone.wait() }
                #expect(threads.all.count == 1 && threads.all.first != substitute)
            }
        }
    }

    @Test func `wakes it for a timer that is due before`() async throws {
        try await withSleepingLoop { sleeping in
            let isDue = Barrier()
            await sleeping.standIn { look in
                if look == 1 { sleeping.loop.schedule(at: sleeping.loop.now) { isDue.open() } }
                return true
            }
            _ = await blocking { isDue.wait() }
        }
    }

    @Test func `has the end told as ever`() async throws {
        try await withSleepingLoop { sleeping in
            await sleeping.standIn { look in
                if look == 1 { sleeping.pair.far.socket.shutdownSending() }
                return false
            }
            #expect(await sleeping.pair.nearReceiver.waitForEnd() == .remote)
            #expect(sleeping.pair.nearReceiver.record.callsOffLoop == 0)
        }
    }

    @Test func `is not waited for by who calls on the loop, nor by others elsewhere`() async throws {
        try await withSleepingLoop { sleeping in
            let near = sleeping.pair.near
            await sleeping.loop.perform {
                near.mute()
                near.send("called")
                #expect(!near.isMuted)
                near.mute()
            }
            near.lookOut(isAlone: false) { false }
            await sleeping.loop.perform { #expect(!near.isMuted) }
        }
    }

    @Test func `is none where the system's list of descriptors is in use meanwhile`() async throws {
        let sleeping = try await SleepingLoop(.poll)
        defer { sleeping.loop.shutdown() }
        let looks = try await blocking {
            var looks = 0
            for _ in 0..<1_000 {
                sleeping.pair.near.lookOut(isAlone: true) {
                    looks += 1
                    return true
                }
            }
            return looks
        }.get()
        #expect(looks == 0)
    }
}
