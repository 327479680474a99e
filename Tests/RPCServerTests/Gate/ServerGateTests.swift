// Who is let in by number, what reaches a log, and that every limit is called what its option is called.

import RPCSockets
import RPCWire
import RemoteProxy
import TestSupport
import Testing

@testable import RPCServer

@Suite struct `Connections by number` {
    private static func limits(_ most: Int, perAddress: Int) -> Limits {
        var limits = Limits()
        (limits.maximumConnections, limits.maximumConnectionsPerAddress) = (most, perAddress)
        return limits
    }

    @Test func `so many in all, wherever they come from`() {
        var connections = ConnectionCount(Self.limits(3, perAddress: 2))
        let visitors = [nil, "a", "b", "c", nil]
        let answers = visitors.map { connections.add(from: $0) }
        #expect(answers == [nil, nil, nil, .maximumConnections, .maximumConnections])
        connections.remove(from: "a")
        #expect(connections.add(from: nil) == nil)
        #expect(connections.all == 3)
    }

    @Test func `so many from one address, and any number from this machine`() {
        var connections = ConnectionCount(Self.limits(100, perAddress: 2))
        for _ in 0..<50 { #expect(connections.add(from: nil) == nil) }
        let answers = ["a", "a", "a", "b"].map { connections.add(from: $0) }
        #expect(answers == [nil, nil, .maximumConnectionsPerAddress, nil])
        connections.remove(from: "a")
        let later = ["a", "a"].map { connections.add(from: $0) }
        #expect(later == [nil, .maximumConnectionsPerAddress])
        #expect(connections.all == 53)
    }
}

@Suite struct `The logLimiter before the log` {
    @Test func `lets so many lines through and tells afterwards how many it has not`() {
        let loop = ManualLoop()
        let (lines, missed) = (Lock<[String]>([]), Lock(0))
        let logLimiter = LogLimiter(
            most: 2, on: loop, overran: { missed.withLock { $0 += 1 } },
            write: { line in lines.withLock { $0.append(line.message) } })
        for number in 1...5 { logLimiter.log(LogRecord(.warning, "\(number)")) }
        #expect(lines.withLock { $0 } == ["1", "2"] && missed.withLock { $0 } == 3)
        loop.advance(by: .seconds(10))
        #expect(lines.withLock { $0 } == ["1", "2", "3 lines were left out (maximumLogLines)"])
        for number in 6...8 { logLimiter.log(LogRecord(.warning, "\(number)")) }
        loop.advance(by: .seconds(10))
        #expect(lines.withLock { Array($0.dropFirst(3)) } == ["6", "7", "1 line was left out (maximumLogLines)"])
        // Nothing is left to do, so nobody is woken.
        #expect(loop.nextDeadline == nil)
    }

    @Test func `cuts what is too long for a line, and says how long it was`() {
        let lines = Lock<[String]>([])
        let logLimiter = LogLimiter(most: 3, on: ManualLoop()) { line in lines.withLock { $0.append(line.message) } }
        let (fits, tooLong) = (String(repeating: "a", count: 8_192), String(repeating: "ü", count: 8_192))
        logLimiter.log(LogRecord(.warning, fits))
        logLimiter.log(LogRecord(.warning, tooLong))
        #expect(lines.withLock { $0 } == [fits, String(repeating: "ü", count: 4_096) + "… (16384 bytes)"])
    }
}

@Suite struct `Names of limits` {
    @Test func `every limit is a member of the limits`() {
        var members = Set(Mirror(reflecting: Limits()).children.compactMap(\.label))
        // `keepalive.timeout`
        members.insert("keepaliveTimeout")
        #expect(Limit.allCases.map(\.rawValue).filter { !members.contains($0) } == [])
    }
}
