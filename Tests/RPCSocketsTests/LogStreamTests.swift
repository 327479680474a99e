// A log that nobody reads stops nobody, and its reader learns what is missing.

import Glibc
import RPCWire
import Testing

@testable import RPCSockets

@Suite struct `A log on a pipe` {
    private let input: Int32
    private let output: Int32

    init() throws {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (output, input) = (ends[0], ends[1])
    }

    @Test func `whole lines while they are read`() throws {
        let log = LogStream(input)
        let lines = ["first", String(repeating: "l", count: 10_000), ""]
        for line in lines { log.write(line: line) }
        #expect(try written() == lines)
    }

    @Test(.timeLimit(.minutes(1))) func `what finds no room is left out and counted`() throws {
        let log = LogStream(input)
        let line = String(repeating: "l", count: 99)
        for _ in 0..<10_000 { log.write(line: line) }
        // One read takes all there is.
        var room = [UInt8](repeating: 0, count: 1 << 20)
        let kept = read(output, &room, room.count) / 100
        #expect(kept > 0 && kept < 10_000)
        log.write(line: "next")
        #expect(try written() == ["\(10_000 - kept) lines were left out: the log had no reader", "next"])
    }

    @Test func `a reader that has gone ends nobody`() throws {
        close(output)
        LogStream(input).write(line: "line")
        close(input)
    }

    /// Closes the pipe, and returns what was written to it and not read.
    private func written() throws -> [String] {
        close(input)
        let bytes = try FileDescriptor(output).readToEnd(atMost: 1 << 20)
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
            .dropLast()
            .map { String($0) }
    }
}
