// Sockets that take little at a time, and signals without end: what a system may do at any time, all the time.

import Dispatch
import Faults
import Foundation
import Protocols
import RPCServer
import RPCSockets
import RPCWire
import RemoteProxy
import Subjects
import TestSupport
import Testing

extension FaultRuns {
    /// In a process of its own: signals and small sockets are the whole process's.
    @Test func `sockets that take little and signals without end harm no call`() async {
        await #expect(processExitsWith: .success) { try await ThinStory(calls: Self.size(400, full: 10_000)).play() }
    }
}

private struct ThinStory {
    let calls: Int

    func play() async throws {
        let counter = SharedCounter()
        let server = RPCServer()
        server.export(CounterProxy(counter))
        server.export(EchoProxy(PlainEcho()))
        let threads = Lock<[pthread_t]>([])
        server.export(GreeterProxy(ThreadTeller { threads.withLock { $0.append(Self.unblocked()) } }))
        let proxy = try FaultProxy(to: try await server.listen(on: "tcp://127.0.0.1:0"))
        let client = RPCClient(proxy.url, .patient)
        let teller = ThreadTeller { threads.withLock { $0.append(Self.unblocked()) } }
        _ = try await GreeterProxy(client).greet("the server's thread")
        await withCheckedContinuation { done in
            EventLoop.shared.submit {
                teller.tell()
                done.resume()
            }
        }
        let storm = Storm(threads.withLock { $0 })
        for round in 0..<max(1, calls / 100) {
            proxy.drip(1 + round % 7)
            Self.shrinkSockets()
            let results = try await withThrowingTaskGroup(of: Int?.self) { group in
                for number in 0..<50 {
                    group.addTask { try await CounterProxy(client).next() }
                    group.addTask {
                        let text = String(repeating: "\(number) ", count: number)
                        guard try await EchoProxy(client).text(text) == text else {
                            throw WireFault("somebody else's answer")
                        }
                        return nil
                    }
                }
                return try await group.reduce(into: [Int]()) { if let result = $1 { $0.append(result) } }
            }
            guard results.sorted() == Array(round * 50 + 1...round * 50 + 50) else { throw WireFault("\(results)") }
        }
        guard storm.stop() > 100 else { throw WireFault("there was no storm") }
    }

    /// The calling thread, which signals reach from now on: the pool's threads, which have started it, block them.
    private static func unblocked() -> pthread_t {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGALRM)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        return pthread_self()
    }

    /// All that there are in this process, whoever has made them.
    private static func shrinkSockets() {
        for descriptor in 3..<Int32(256) {
            var size: Int32 = 4_096
            setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
    }
}

/// Tells on which thread it is called.
private struct ThreadTeller: Greeter {
    let tell: @Sendable () -> Void

    func greet(_ name: String) async throws -> String {
        tell()
        return name
    }
}

/// A signal a millisecond to each of some threads.
private final class Storm: Sendable {
    private let counts = Lock((sent: 0, isOver: false))

    init(_ threads: [pthread_t]) {
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { _ in }
        sigaction(SIGALRM, &action, nil)
        Thread.detachNewThread { [counts] in
            while !counts.withLock({ $0.isOver }) {
                for thread in threads { pthread_kill(thread, SIGALRM) }
                counts.withLock { $0.sent += 1 }
                // The pause between two signals, which is what the storm is.
                usleep(1_000)
            }
        }
    }

    /// Answers how often it has struck.
    func stop() -> Int {
        counts.withLock { counts in
            counts.isOver = true
            return counts.sent
        }
    }
}
