// A place for callers on the pool that go on at the loop.

import Protocols
import RPCServer
import RPCSockets
import RPCWire
import RemoteProxy
import Subjects
import TestSupport
import Testing

/// Whether the library was built for a runtime whose pool it can hook into (Package.swift). Elsewhere no caller is hosted.
var canHost: Bool {
    #if KNOWN_RUNTIME && arch(x86_64) && canImport(Glibc)
        true
    #else
        false
    #endif
}

/// A server, and a loop of their own for its clients.
struct HostingLoop {
    /// Looks only when it is told to.
    let monitor: HandoffMonitor
    let loop: EventLoop
    let server: RPCServer
    let url: Endpoint

    init(
        eachEarns earned: Duration = .seconds(1),
        maximumBlockedThreads: Int = 64
    ) async throws {
        var configuration = RPCServer.Configuration()
        // On a busy machine calls wait for long, and are not to be turned away for it.
        configuration.limits.maximumWait = .zero
        server = RPCServer(configuration)
        monitor = HandoffMonitor(maximumBlockedThreads: maximumBlockedThreads, looksBySelf: false)
        // Answers come late there too, and jobs that are hosted are kept from going.
        let policy = PoolCallerPolicy(earned: earned, longestLull: .seconds(3_600))
        loop = try EventLoop(
            name: "hosting", monitor: monitor, hosting: policy)
        server.export(CalculatorProxy(CheckedCalculator()))
        server.export(EchoProxy(PlainEcho()))
        server.export(CounterProxy(SharedCounter()))
        url = try await server.listen(on: "tcp://127.0.0.1:0")
    }

    func client() -> RPCClient {
        let configuration = RPCClient.Configuration.patient
        return RPCClient(
            .to(url, configuration, on: loop), configuration)
    }

    /// Calls until the caller is hosted; once where none is.
    func call(_ calculator: CalculatorProxy) async throws {
        let thread = try await loop.perform { SystemThread.current }
        repeat {
            #expect(try await calculator.add(1, 2) == 3)
        } while canHost && SystemThread.current != thread && !Task.isCancelled
    }

    /// Hosts so many jobs, one right after the other, and returns when they have gone.
    /// - Parameter first: done on the loop right before they come.
    func host(
        _ count: Int, first: @escaping @Sendable () -> Void, each: @escaping @Sendable () async -> Void
    ) async throws {
        // A caller that is answered after a lull is not hosted.
        try await loop.perform { loop.answer(onlyOf: nil) {} }
        let waiting = Lock<[UnsafeContinuation<Void, Never>]>([])
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<count {
                group.addTask {
                    await withUnsafeContinuation { guest in waiting.withLock { $0.append(guest) } }
                    await each()
                }
            }
            await until { waiting.withLock { $0.count } == count }
            loop.submit {
                first()
                loop.answer(onlyOf: nil) { for guest in waiting.withLock({ $0 }) { guest.resume() } }
            }
        }
    }

    func end() async {
        await server.stop()
        loop.shutdown()
    }
}
