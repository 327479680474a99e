// The raw baseline of a workload: which frame, how many under way, how the ends wait. Driven in two processes of its
// own, measured with the same clocks as ours.

import BenchSystem
import Glibc
import RawEcho

/// What plain sockets do with the same bytes.
struct RawBaseline: Sendable {
    let way: raw_way
    let connections: Int
    /// Frames under way on each connection.
    let window: Int
    /// The JSON text that our client sends for this call.
    let message: @Sendable () -> String

    init(
        way: raw_way, connections: Int = 1, window: Int = 1, message: @escaping @Sendable @autoclosure () -> String
    ) {
        (self.way, self.connections, self.window, self.message) = (way, connections, window, message)
    }

    static func named(_ arguments: [String], count: Int) throws(BenchFailure) -> RawBaseline {
        guard arguments.count == count, let workload = Workload.named(arguments[0]) else {
            throw BenchFailure("no such workload")
        }
        guard case .overSockets(let sockets) = workload.kind, let baseline = sockets.baseline else {
            throw BenchFailure("\(workload.name) has no raw baseline")
        }
        return baseline
    }

    /// The parent's part: a raw server and a raw client.
    func figures(_ name: String, _ seconds: Double) throws -> Figures {
        let server = try Child(.rawServe, [name])
        let port = try server.firstLine()
        var client = try Child(.rawClient, [name, port, "\(server.process)", "\(seconds)"])
        let found = try Figures(lines: client.outputToEnd())
        var figures = Figures()
        for name in found.names { figures["raw_\(name)"] = found[name] }
        return figures
    }

    func serve() throws {
        var port: UInt16 = 0
        let listener = raw_listen(&port)
        print(port)
        fflush(nil)
        raw_serve(listener, way)
    }

    /// The client's part: warms up, then measures.
    func call(port: UInt16, server: pid_t, seconds: Double) throws -> Figures {
        let frame = self.frame
        let warmUp = way == raw_counting ? 0 : min(0.3, seconds)
        let descriptors = (0..<connections).map { _ in raw_connect(port) }
        var latencies = Latencies()
        _ = run(descriptors, frame, seconds: warmUp, into: &latencies)
        latencies = Latencies()
        let window = Window(server: server)
        let calls = run(descriptors, frame, seconds: seconds, into: &latencies)
        return window.figures(calls: Int(calls), latencies: way == raw_counting ? nil : latencies)
    }

    private var frame: [UInt8] {
        let message = message()
        let length = UInt32(message.utf8.count)
        return withUnsafeBytes(of: length.bigEndian, Array.init) + Array(message.utf8)
    }

    private func run(
        _ descriptors: [Int32], _ frame: [UInt8], seconds: Double, into latencies: inout Latencies
    ) -> UInt64 {
        guard seconds > 0 else { return 0 }
        return latencies.withCounts { counts in
            frame.withUnsafeBufferPointer { frame in
                let load = raw_load(
                    frame: frame.baseAddress, length: UInt32(frame.count),
                    until: bench_now() + UInt64(seconds * 1e9), counts: counts)
                return switch way {
                case raw_batched: raw_pipeline(descriptors, Int32(connections), Int32(window), load)
                case raw_counting: raw_post(descriptors[0], load)
                default: raw_ping(descriptors[0], way, load)
                }
            }
        }
    }
}
