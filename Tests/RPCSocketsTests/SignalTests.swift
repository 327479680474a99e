import CSystem
import RPCWire
import TestSupport
import Testing

@testable import RPCSockets

@Suite(.waitsForOthers) struct SignalTests {
    @Test func `signals arrive on the loop, and mean again what they meant when the source is closed`() async {
        await #expect(processExitsWith: .signal(SIGTERM)) {
            let loop = try EventLoop(name: "test")
            let source: SignalSource
            let (signals, continuation) = AsyncStream.makeStream(of: ProcessSignal.self)
            source = try SignalSource([.terminate, .interrupt], on: loop) { continuation.yield($0) }
            var iterator = signals.makeAsyncIterator()
            for signal in [ProcessSignal.terminate, .interrupt, .terminate] {
                kill(getpid(), signal.rawValue)
                guard await iterator.next() == signal else { exit(1) }
            }
            source.close()
            try await loop.perform { _ = raise(SIGTERM) }
        }
    }

    /// In a process of its own, because the process has one table of signals.
    @Test func `signals are heard by a thread that has taken the loop over`() async {
        await #expect(processExitsWith: .success) {
            let lent = try LentLoop()
            let heard = Barrier()
            let source = try SignalSource([.terminate], on: lent.loop) { _ in heard.open() }
            try await lent.loop.perform {}
            let barrier = Barrier()
            try await lent.block(on: barrier)
            // From a thread of Swift's pool, which blocks all signals.
            lent.lookUntilReplaced()
            try await lent.loop.perform { _ = raise(SIGTERM) }
            _ = await blocking { heard.wait() }
            barrier.open()
            source.close()
        }
    }

    @Test func `a write to a closed connection is an error, not the end of the process`() async throws {
        let (near, far) = try Socket.pair()
        far.close()
        guard case .failed(let error) = [UInt8(1)].withUnsafeBytes({ near.send($0) }) else {
            Issue.record("sent")
            return
        }
        #expect(error.description == "send: EPIPE (Broken pipe)")
    }
}
