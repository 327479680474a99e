// Holds what callers were told against what the subject did. Each rule is checked by itself and has a letter, so that a
// failure says which promise was broken; a clean history breaks none.

import RPCWire

package struct HistoryFault: Error, Hashable, CustomStringConvertible {
    package enum Rule: String, CaseIterable, Sendable {
        /// A call that was answered ran exactly once, with that very result.
        case answered = "a"
        /// A call that is said not to have run did not.
        case refused = "b"
        /// A call of which nobody knows ran once or not at all.
        case unknown = "c"
        /// Nothing ran that nobody called.
        case unasked = "d"
        /// A counter counted: its results are all different, without gaps, and grow with time.
        case counted = "e"
        /// The posts of a conversation came in order, none twice and none left out before one that came.
        case posted = "f"
        /// Every call ended, once and in time.
        case ended = "g"
        /// An object by reference was there while the other end had a proxy for it and their session went on.
        case reachable = "h"
    }

    package let rule: Rule
    package let what: String

    package var description: String { "(\(rule.rawValue), \(rule)) \(what)" }
}

/// One history, and the rules as its functions: no faults is no failure.
package struct HistoryCheck {
    let calls: [CallRecord]

    package init(_ calls: [CallRecord]) { self.calls = calls }

    /// Rules a to d.
    package func faults(executions: [Execution]) -> [HistoryFault] {
        let ran = Dictionary(grouping: executions, by: \.name)
        return calls.compactMap { judge($0, ran[$0.name] ?? []) } + unasked(executions)
    }

    private func judge(_ call: CallRecord, _ ran: [Execution]) -> HistoryFault? {
        let results = ran.map { "\($0.result)" }.joined(separator: ", ")
        func fault(_ rule: HistoryFault.Rule, _ what: String) -> HistoryFault {
            HistoryFault(rule: rule, what: "\(call.name) \(what)")
        }
        switch call.endings.first?.ending {
        case .executed(let result):
            guard ran.count == 1 else {
                return fault(
                    .answered, "was answered with \(result.description) and ran \(ran.count) times: [\(results)]")
            }
            guard let result, result != ran[0].result else { return nil }
            return fault(.answered, "was answered with \(result), but its result is \(results)")
        case .notExecuted:
            return ran.isEmpty ? nil : fault(.refused, "is said not to have run and ran: [\(results)]")
        case .unknown, nil:
            return ran.count <= 1 ? nil : fault(.unknown, "has no answer and ran \(ran.count) times: [\(results)]")
        }
    }

    private func unasked(_ executions: [Execution]) -> [HistoryFault] {
        let asked = Set(calls.map(\.name))
        return executions.filter { !asked.contains($0.name) }
            .map { HistoryFault(rule: .unasked, what: "\($0.name) ran and nobody called it") }
    }

    /// Rule g. A call may be late by as much as the machine may be.
    package func faultsInEnding(slack: Duration = .milliseconds(50)) -> [HistoryFault] {
        calls.compactMap { call in
            guard let end = call.endings.first, call.endings.count == 1 else {
                return HistoryFault(rule: .ended, what: "\(call.name) ended \(call.endings.count) times")
            }
            let late = call.deadline.duration(to: end.at)
            guard call.deadline < .distantFuture, late > slack else { return nil }
            return HistoryFault(rule: .ended, what: "\(call.name) ended \(late) after its deadline, as \(end.ending)")
        }
    }
}

extension CallName: CustomStringConvertible {
    package var description: String { "call \(number) of caller \(caller)" }
}

extension Int? {
    fileprivate var description: String { map { "\($0)" } ?? "no number" }
}
