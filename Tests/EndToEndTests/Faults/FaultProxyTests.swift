// The fault proxy does what it says: otherwise a clean fault run would prove nothing.

import Faults
import Foundation
import RPCSockets
import RPCWire
import TestSupport
import Testing

@Suite(.waitsForOthers) struct `Fault proxy` {
    /// A listener, the proxy in front of it, and both ends of one connection through it.
    private struct Line {
        let proxy: FaultProxy
        let client: RawDescriptor
        let server: RawDescriptor

        init(_ prepare: (FaultProxy) -> Void = { _ in }) throws {
            let (listener, url) = try RawDescriptor.listening()
            proxy = try FaultProxy(to: url)
            prepare(proxy)
            client = try RawDescriptor.connected(to: proxy.url)
            server = try #require(listener.accepted())
        }
    }

    private func read(_ end: RawDescriptor, _ count: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count, case .bytes(let more) = end.receive(count - bytes.count) { bytes += more }
        return bytes
    }

    private func hasEnded(_ end: RawDescriptor) -> Bool {
        while true {
            switch end.receive() {
            case .end: return true
            case .bytes: continue
            case .nothing: return false
            }
        }
    }

    /// Whether what the proxy writes down after it has done it comes to this, and within a minute.
    private static func comesTo<Value: Equatable>(_ expected: Value, _ value: () -> Value) -> Bool {
        let end = MonotonicClock.now.advanced(by: .seconds(60))
        while value() != expected, MonotonicClock.now < end { sched_yield() }
        return value() == expected
    }

    @Test func `it passes everything both ways, and the end behind it`() async throws {
        try await blocking {
            let line = try Line()
            let bytes = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            Thread.detachNewThread {
                var rest = bytes[...]
                while let count = line.client.send(rest), count < rest.count { rest = rest.dropFirst(count) }
                line.client.finishSending()
            }
            #expect(try read(line.server, bytes.count) == bytes)
            #expect(hasEnded(line.server))
            _ = line.server.send([1, 2, 3])
            #expect(try read(line.client, 3) == [1, 2, 3])
            // It counts what it has passed on, so after whoever has got it.
            let whole = FaultProxy.Counts(connections: 1, cuts: 0, bytes: 1_000_003, corrupted: 0)
            #expect(Self.comesTo(whole) { line.proxy.counts })
        }.get()
    }

    @Test(arguments: [Cut.finish, .reset])
    func `a cut ends both sides`(_ cut: Cut) async throws {
        try await blocking {
            let line = try Line()
            line.proxy.cut(cut)
            #expect(hasEnded(line.client) && hasEnded(line.server))
            #expect(line.proxy.counts.cuts == 1)
        }.get()
    }

    @Test func `a half-close ends one direction`() async throws {
        try await blocking {
            let line = try Line()
            line.proxy.cut(.halfClose(.toServer))
            #expect(hasEnded(line.server))
            _ = line.server.send([7])
            #expect(try read(line.client, 1) == [7])
        }.get()
    }

    @Test func `a stall passes nothing and closes nothing until it is over`() async throws {
        try await blocking {
            let line = try Line()
            line.proxy.stall()
            _ = line.client.send([1, 2, 3])
            line.server.prepare()
            // What is passed on in spite of the stall has had its chance when another connection has been served.
            let other = try Line()
            _ = other.client.send([9])
            #expect(try read(other.server, 1) == [9])
            if case .nothing = line.server.receive() {} else { Issue.record("bytes came through a stall") }
            line.proxy.resume()
            var received: [UInt8] = []
            #expect(
                Self.comesTo([1, 2, 3] as [UInt8]) {
                    if case .bytes(let bytes) = line.server.receive() { received += bytes }
                    return received
                })
        }.get()
    }

    @Test func `a stall ends by itself, and a drip passes a few bytes at a time`() async throws {
        try await blocking {
            let line = try Line { $0.drip(2, every: .milliseconds(20)) }
            line.proxy.stall()
            _ = line.client.send([1, 2, 3, 4, 5])
            let began = MonotonicClock.now
            line.proxy.stall(for: .milliseconds(30))
            #expect(try read(line.server, 5) == [1, 2, 3, 4, 5])
            // The stall, and a pause behind each of the first two pieces.
            #expect(began.duration(to: MonotonicClock.now) >= .milliseconds(70))
        }.get()
    }

    @Test func `a byte is changed in every so many`() async throws {
        try await blocking {
            let line = try Line { $0.corrupt(.toServer, every: 100...100, seed: 1) }
            let zeros = [UInt8](repeating: 0, count: 1_000)
            _ = line.client.send(zeros[...])
            let received = try read(line.server, 1_000)
            #expect(received.indices.filter { received[$0] != 0 } == Array(stride(from: 100, to: 1_000, by: 100)))
            _ = line.server.send(zeros[...])
            #expect(try read(line.client, 1_000) == zeros)
            #expect(line.proxy.counts.corrupted == 9)
        }.get()
    }

    @Test func `a plan cuts behind exactly so many bytes, and so many times`() async throws {
        try await blocking {
            let (listener, url) = try RawDescriptor.listening()
            let proxy = try FaultProxy(to: url)
            proxy.cut(CutPlan(seed: 1, times: 2, every: 10...10, [.finish]))
            for expected in [10, 10, 30] {
                let client = try RawDescriptor.connected(to: proxy.url)
                let server = try #require(listener.accepted())
                _ = client.send([UInt8](repeating: 1, count: 30)[...])
                if expected == 30 { client.finishSending() }
                #expect(try read(server, 40).count == expected)
            }
            // The third connection was made after the second was cut, and that was written down first.
            #expect(proxy.counts.cuts == 2)
        }.get()
    }

    @Test func `it turns clients away, and leads them elsewhere`() async throws {
        try await blocking {
            let line = try Line()
            line.proxy.refuse()
            #expect(hasEnded(try RawDescriptor.connected(to: line.proxy.url)))
            let (listener, url) = try RawDescriptor.listening()
            line.proxy.lead(to: url)
            line.proxy.serve()
            let client = try RawDescriptor.connected(to: line.proxy.url)
            _ = client.send([5])
            #expect(try read(try #require(listener.accepted()), 1) == [5])
        }.get()
    }
}
