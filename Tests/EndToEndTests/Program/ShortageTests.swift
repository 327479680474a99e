// Processes that have run out of something. A server without descriptors serves those who are in, and its log says once
// why nobody else is; a client without any says so to its callers; a server with little memory does not miss what is only
// announced. Full disks are a matter of cache files.

import Foundation
import Protocols
import RPCServer
import RemoteProxy
import TestSupport
import Testing

@Suite(.waitsForOthers) struct `A server without descriptors` {
    /// In a process of its own, because the limit is the whole process's.
    @Test func `serves whom it has, says so once, and takes others when it can again`() async {
        await #expect(processExitsWith: .success) { try await ShortageStory().play() }
    }
}

@Suite(.waitsForOthers) struct `A client without descriptors` {
    @Test func `says why to those whose time is over, and calls when there are some again`() async {
        await #expect(processExitsWith: .success) { try await ShortageStory().playClient() }
    }
}

@Suite(.waitsForOthers) struct `A process whose first client finds no descriptor` {
    @Test func `says why to those whose time is over, and calls when there are some`() async {
        await #expect(processExitsWith: .success) { try await ShortageStory().playFirstClient() }
    }
}

@Suite(.serialized, .waitsForOthers) struct `rpc-server with a low limit on descriptors` {
    /// From too few to open a listener to enough for some connections.
    @Test(arguments: 8...24)
    func `serves and stops in order, or refuses to start and names the limit`(descriptors: Int) async throws {
        try await blocking {
            let server = try ServerProgram("--listen=tcp://127.0.0.1:0", descriptors: descriptors)
            if let url = try? server.address() {
                let client = try RawClient(url)
                #expect(try brief(client.ask(Said.value)) == "1=0")
                // Uses the pool of Swift's own.
                client.say(#"{"jsonrpc":"2.0","method":"Echo.later","params":["done",1],"id":2}"#)
                #expect(try brief(client.hear()) == "2=\"done\"")
                client.finish()
                server.signal(SIGTERM)
                #expect(server.end() == .init(code: 0, output: "", errors: ""))
            } else {
                let end = server.end()
                #expect(end.code == 1 && end.output == "" && end.errors.split(separator: "\n").count == 1)
                #expect(end.errors.hasPrefix("rpc-server: ") && end.errors.contains("ulimit -n"), "\(end.errors)")
            }
        }.get()
    }
}

@Suite(.waitsForOthers) struct `A server with little memory` {
    /// Those that came with more than they need keep what they need; of those that need much there are only so many.
    @Test func `keeps little of large messages whose calls run and do not return`() async throws {
        try await blocking {
            let server = try ServerProgram(
                "--listen=tcp://127.0.0.1:0", "--quiet", "--maximum-bytes-in-flight=2097152")
            let (url, count) = (try server.address(), 24)
            let client = try RawClient(url, .lengthPrefixed)
            let ping = #"{"jsonrpc":"2.0","method":"rpc.ping","id":0}"#
            #expect(try brief(client.ask(ping)) == "0=null")
            let before = try server.peakMemory()
            let text = String(repeating: "x", count: 512 << 10)
            let call = #"{"jsonrpc":"2.0","method":"Echo.later","params":"#
            for id in 1...count { client.say(#"\#(call)["x",60000],"id":\#(id),"more":"\#(text)"}"#) }
            for id in 1...count { client.say(#"\#(call)["\#(text)",60000],"id":\#(id + count)}"#) }
            client.say(ping)
            // The first of those that are too many is the fifth: four have two mebibytes, save what the others need.
            for id in count + 5...2 * count { #expect(try brief(client.hear()) == "\(id)!-32009") }
            #expect(try brief(client.hear()) == "0=null")
            // What came is 24 MiB.
            #expect(try server.peakMemory() - before < 14 << 20)
            server.signal(SIGKILL)
            _ = server.end()
        }.get()
    }

    /// Four times as much is announced as there is.
    @Test(arguments: [WireFraming.lengthPrefixed, .headers])
    func `serves on while a hundred messages of the largest size have only begun`(framing: WireFraming)
        async throws
    {
        try await blocking {
            let server = try ServerProgram("--listen=tcp://127.0.0.1:0", "--quiet", memory: 384 << 10)
            let url = try server.address()
            let size = 16 << 20
            let announced =
                framing == .headers
                ? Array("Content-Length: \(size)\r\n\r\n".utf8)
                : withUnsafeBytes(of: UInt32(size).bigEndian, Array.init)
            let beginning = announced + Array(("\"" + String(repeating: "x", count: 20_000)).utf8)
            let neighbour = try RawClient(url)
            var beginners: [RawClient] = []
            for _ in 0..<100 {
                let beginner = try RawClient(url, framing)
                beginner.send(beginning)
                beginners.append(beginner)
                #expect(try brief(neighbour.ask(Said.value)) == "1=0")
            }
            // There is room for what is not only announced.
            let text = String(repeating: "y", count: 1 << 20)
            let echo = try neighbour.ask(#"{"jsonrpc":"2.0","method":"Echo.text","params":["\#(text)"],"id":2}"#)
            #expect(echo?.contains(text) == true)
            for beginner in beginners { beginner.finish() }
            neighbour.finish()
            server.signal(SIGTERM)
            #expect(server.end() == .init(code: 0, output: "", errors: ""))
        }.get()
    }
}

private struct ShortageStory {
    func playFirstClient() async throws {
        let server = try ServerProgram("--listen", "tcp://127.0.0.1:0")
        let url = try server.address()
        let before = try limit(dup(0))
        let client = RPCClient(url, .eager)
        var failure: RPCError?
        do {
            _ = try await withCallTimeout(.milliseconds(300)) { try await EchoProxy(client).text("none") }
        } catch let error as RPCError { failure = error }
        try require(failure?.code == .unavailable && failure?.outcome == .notExecuted)
        try require(failure?.message.contains("EMFILE") == true)
        _ = try limit(before)
        try require(try await EchoProxy(client).text("after") == "after")
        try require(try await EchoProxy(RPCClient(url)).text("another") == "another")
        server.signal(SIGTERM)
        try require(server.end().code == 0)
    }

    func playClient() async throws {
        let server = try ServerProgram("--listen", "tcp://127.0.0.1:0")
        let url = try server.address()
        // What all clients of a process share is there.
        let old = RPCClient(url, .patient)
        try require(try await EchoProxy(old).text("before") == "before")
        let before = try limit(dup(0))
        let client = RPCClient(url, .eager)
        var failure: RPCError?
        var timeout = Duration.milliseconds(150)
        // On a machine so busy that nobody has tried to connect in that time: once more with more time.
        while failure?.message.contains("EMFILE") != true, timeout < .seconds(60) {
            timeout *= 2
            do {
                _ = try await withCallTimeout(timeout) { try await EchoProxy(client).text("none") }
            } catch let error as RPCError { failure = error }
            try require(failure?.outcome == .notExecuted)
        }
        try require(failure?.code == .unavailable && failure?.message.contains("EMFILE") == true)
        // Who is connected is so still.
        try require(try await EchoProxy(old).text("beside") == "beside")
        _ = try limit(before)
        try require(try await EchoProxy(client).text("after") == "after")
        server.signal(SIGTERM)
        try require(server.end().code == 0)
    }

    func play() async throws {
        let log = LoggedLines()
        try await withGate {
            $0.log = log.add
        } _: { server, url in
            let old = try RawClient(url)
            try require(try brief(old.ask(Said.value)) == "1=0")
            let before = try limit(dup(0) + 6)
            // Each takes two here, one at either end: some come in, and then nobody.
            var others: [RawClient] = []
            while log.lines.isEmpty, let other = try? RawClient(url) {
                others.append(other)
                try require(try brief(old.ask(Said.value)) == "1=0")
            }
            // Among all the other tests the machine may be late.
            let isAlone = FaultRuns.isFull
            var slowest = Duration.zero
            let (start, workBefore) = (ContinuousClock.now, processTime())
            // Not without a pause: what the server does by itself is to be seen beside it.
            while ContinuousClock.now - start < .milliseconds(500) {
                let asked = ContinuousClock.now
                try require(try brief(old.ask(Said.value)) == "1=0")
                slowest = max(slowest, ContinuousClock.now - asked)
                usleep(20_000)
            }
            try require(slowest < (isAlone ? .milliseconds(100) : .seconds(10)))
            let share = (processTime() - workBefore) / ((ContinuousClock.now - start) / .seconds(1))
            try require(share < (isAlone ? 0.1 : 0.5))
            try require(log.lines.count == 1 && log.lines[0].contains("EMFILE") && log.lines[0].contains("ulimit -n"))
            _ = try limit(before)
            let released = ContinuousClock.now
            try require(try brief(RawClient(url).ask(Said.value)) == "1=0")
            try require(ContinuousClock.now - released < (isAlone ? .seconds(1) : .seconds(20)))
            while log.lines.count < 2 { try require(try brief(RawClient(url).ask(Said.value)) == "1=0") }
            try require(log.lines[1].hasSuffix("accepts again"))
        }
    }

    /// Seconds of processor time that the process has used.
    private func processTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private func require(_ holds: Bool, line: Int = #line) throws {
        if !holds { throw WireFault("line \(line)") }
    }

    /// Sets the soft limit and answers the former one.
    private func limit(_ number: some BinaryInteger) throws -> rlim_t {
        var limits = rlimit()
        getrlimit(resource, &limits)
        let before = limits.rlim_cur
        limits.rlim_cur = rlim_t(number)
        try require(setrlimit(resource, &limits) == 0)
        return before
    }

    private var resource: __rlimit_resource_t { __rlimit_resource_t(RLIMIT_NOFILE.rawValue) }
}
