// A log that nobody reads stops nobody, and its reader learns what is missing.

import Foundation
import RPCSockets
import RPCWire
import Testing

@Suite struct `A log on a pipe` {
    private let pipe = Pipe()

    @Test func `whole lines while they are read`() throws {
        let log = LogStream(pipe.fileHandleForWriting.fileDescriptor)
        let lines = ["first", String(repeating: "l", count: 10_000), ""]
        for line in lines { log.write(line: line) }
        try pipe.fileHandleForWriting.close()
        #expect(try written() == lines)
    }

    @Test(.timeLimit(.minutes(1))) func `what finds no room is left out and counted`() throws {
        let log = LogStream(pipe.fileHandleForWriting.fileDescriptor)
        let line = String(repeating: "l", count: 99)
        for _ in 0..<10_000 { log.write(line: line) }
        // One read takes all there is.
        var room = [UInt8](repeating: 0, count: 1 << 20)
        let kept = read(pipe.fileHandleForReading.fileDescriptor, &room, room.count) / 100
        #expect(kept > 0 && kept < 10_000)
        log.write(line: "next")
        try pipe.fileHandleForWriting.close()
        #expect(try written() == ["\(10_000 - kept) lines were left out: the log had no reader", "next"])
    }

    @Test func `a reader that has gone ends nobody`() throws {
        try pipe.fileHandleForReading.close()
        LogStream(pipe.fileHandleForWriting.fileDescriptor).write(line: "line")
    }

    private func written() throws -> [String] {
        let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
        return String(decoding: data, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            .map { String($0) }
    }
}
