// The lines of a ledger: each is written whole before the subject answers, and read when all is over.

import Foundation
package import RPCWire
package import TestSupport

package final class LedgerFile: Sendable {
    package enum Entry: Sendable, Hashable {
        case execution(Execution)
        case post(PostSeen)
        /// How much time a passed call had left here.
        case timeLeft(Duration)
        /// A passed call was cancelled here, at this moment of the clock that all processes share.
        case cancelled(at: Instant)
    }

    private let descriptor: RawDescriptor

    package init(_ path: String) throws {
        descriptor = RawDescriptor(open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600))
        guard descriptor.number >= 0 else { throw FaultToolError("\(path): errno \(errno)") }
    }

    func enter(_ entry: Entry) {
        let words: [Any] =
            switch entry {
            case .execution(let it): ["ran", it.name.caller, it.name.number, it.result]
            case .post(let it): ["noted", it.name.caller, it.name.number, it.session]
            case .timeLeft(let duration): ["left", duration.nanoseconds]
            case .cancelled(let instant): ["cancelled", instant.nanoseconds]
            }
        let line = Array((words.map { "\($0)" }.joined(separator: " ") + "\n").utf8)
        _ = write(descriptor.number, line, line.count)
    }

    /// All entries so far, oldest first.
    package static func entries(_ path: String) -> [Entry] {
        guard let file = fopen(path, "r") else { return [] }
        defer { fclose(file) }
        var text: [UInt8] = []
        var window = [UInt8](repeating: 0, count: 1 << 20)
        while case let count = fread(&window, 1, window.count, file), count > 0 { text += window[..<count] }
        return text.split(separator: UInt8(ascii: "\n")).compactMap { line in
            entry(String(decoding: line, as: UTF8.self).split(separator: " ").map(String.init))
        }
    }

    private static func entry(_ words: [String]) -> Entry? {
        let numbers = words.dropFirst().map { Int($0) ?? 0 }
        return switch (words.first, words.count) {
        case ("ran", 4): .execution(Execution(CallName(numbers[0], numbers[1]), result: numbers[2]))
        case ("noted", 4): .post(PostSeen(CallName(numbers[0], numbers[1]), session: words[3]))
        case ("left", 2): .timeLeft(.nanoseconds(numbers[0]))
        case ("cancelled", 2): .cancelled(at: Instant(nanoseconds: Int64(numbers[0])))
        default: nil
        }
    }
}

extension [LedgerFile.Entry] {
    package var executions: [Execution] { compactMap { if case .execution(let it) = $0 { it } else { nil } } }
    package var posts: [PostSeen] { compactMap { if case .post(let it) = $0 { it } else { nil } } }
}
