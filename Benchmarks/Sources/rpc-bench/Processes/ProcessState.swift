// What the system tells about another process: its memory, and how often its threads have been woken, how many threads and
// descriptors it has.

import Glibc

/// A process as it is now.
struct ProcessState {
    let residentBytes: Int
    /// How often a thread has gone to sleep by itself, and so was woken.
    let wakeups: Int
    let threads: Int
    let descriptors: Int

    init(of process: pid_t) throws(BenchFailure) {
        let directory = "/proc/\(process)"
        residentBytes = 1_024 * (try Self.number("VmRSS:", in: "\(directory)/status"))
        var wakeups = 0
        let tasks = try Self.names(in: "\(directory)/task")
        for thread in tasks {
            // One that has ended since they were listed is woken no more.
            wakeups += (try? Self.number("voluntary_ctxt_switches:", in: "\(directory)/task/\(thread)/status")) ?? 0
        }
        self.wakeups = wakeups
        threads = tasks.count
        descriptors = try Self.names(in: "\(directory)/fd").count
    }

    /// How many processes wanted a processor, on average over the last minute. Where it is not well below the number of
    /// processors, wall-clock figures tell more about the neighbours.
    static func load() -> Double? {
        (try? text("/proc/loadavg"))?.split(separator: " ").first.flatMap { Double($0) }
    }

    private static func number(_ label: String, in path: String) throws(BenchFailure) -> Int {
        for line in try text(path).split(separator: "\n") where line.hasPrefix(label) {
            let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" })
            if words.count > 1, let number = Int(words[1]) { return number }
        }
        throw BenchFailure("there is no \(label) in \(path)")
    }

    private static func text(_ path: String) throws(BenchFailure) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw BenchFailure("cannot open \(path): error \(errno)") }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 16_384)
        let count = read(descriptor, &bytes, bytes.count)
        guard count >= 0 else { throw BenchFailure("cannot read \(path): error \(errno)") }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }

    private static func names(in path: String) throws(BenchFailure) -> [String] {
        guard let directory = opendir(path) else { throw BenchFailure("cannot open \(path): error \(errno)") }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names
    }
}
