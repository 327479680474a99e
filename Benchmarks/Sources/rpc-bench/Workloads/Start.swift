// From starting the program of rpc-server to its first answered call, over a plain socket as any client would come.

import BenchSystem
import Glibc
import RawEcho

extension Workload {
    static let start = Workload(
        name: "start", summary: "rpc-server from exec to the first answered call",
        goal: Goal("start_ms", .atMost(50)),
        kind: .programs { options in
            let runs = try (0..<max(5, options.runs)).map { _ in
                var figures = Figures()
                figures["start_ms"] = try milliseconds()
                return figures
            }
            return Figures.medians(of: runs)
        })

    private static func milliseconds() throws -> Double {
        let begin = bench_now()
        let server = try Child(
            Program.directory + "/sample-server", ["rpc-server", "--listen", "tcp://127.0.0.1:0", "--quiet"])
        let line = try server.firstLine()
        guard let port = line.split(separator: ":").last.flatMap({ UInt16($0) }) else {
            throw BenchFailure("the server said '\(line)'")
        }
        let socket = raw_connect(port)
        defer { close(socket) }
        let request = Array(Message.add.utf8) + [UInt8(ascii: "\n")]
        guard send(socket, request, request.count, 0) == request.count else { throw BenchFailure("cannot send") }
        var reply = [UInt8](repeating: 0, count: 1_024)
        let count = recv(socket, &reply, reply.count, 0)
        let time = Double(bench_now() - begin) / 1e6
        try check(String(decoding: reply[..<max(0, count)], as: UTF8.self).contains(#""result":1024"#))
        return time
    }
}
