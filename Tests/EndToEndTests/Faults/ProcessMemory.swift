// What a process costs, as the system counts it.

import Faults
import Foundation

enum ProcessMemory {
    /// The most bytes that were resident at a time, since the process began or since this was last reset.
    /// - Parameter process: the number of another one than this.
    static func peak(of process: String = "self", reset: Bool = false) throws -> Int {
        if reset { try Data("5".utf8).write(to: URL(filePath: "/proc/\(process)/clear_refs")) }
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") }),
            let kilobytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Int($0) })
        else { throw FaultToolError("/proc/\(process)/status has no VmHWM") }
        return kilobytes << 10
    }
}
