// What this process costs, as the system counts it.

import Faults
import Foundation

enum ProcessMemory {
    /// The most bytes that were resident at a time, since the process began or since this was last reset.
    static func peak(reset: Bool = false) throws -> Int {
        if reset { try Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs")) }
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") }),
            let kilobytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Int($0) })
        else { throw FaultToolError("/proc/self/status has no VmHWM") }
        return kilobytes << 10
    }
}
