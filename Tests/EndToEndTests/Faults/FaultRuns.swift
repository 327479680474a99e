// The fault runs: a crowd of callers, a real server process, and something that goes wrong between or under them. Each
// is small here and has its full size under `.ci/faults`. One after the other, since each wants the whole machine.

import Faults
import Foundation
import RPCSockets
import RPCWire
import RemoteProxy
import TestSupport
import Testing

@Suite("Fault runs", .serialized, .waitsForOthers) struct FaultRuns {
    static let isFull = ProcessInfo.processInfo.environment["REMOTEPROXY_FAULTS"] == "full"

    static func size(_ small: Int, full: Int) -> Int { isFull ? full : small }

    /// How much later than its deadline a call may end: in a run by itself little, beside all the other tests more.
    static var slack: Duration { isFull ? .milliseconds(50) : .seconds(5) }

    /// The same where each call is looked at: by itself as little, beside the others only by far less than a call without a
    /// timeout of its own would be.
    static var hostileSlack: Duration { isFull ? .milliseconds(50) : .seconds(300) }
}

/// A ledger, and the server processes that keep it one after the other.
final class LedgerHouse: Sendable {
    private let folder: SocketFolder
    /// Where the one that is started with `start` can be reached.
    var url: Endpoint { folder.url }
    private let books = Lock(0)

    init() throws { folder = try SocketFolder() }

    private func path(_ book: Int) -> String { "\(folder.path)/ledger-\(book)" }

    /// Everything in all books.
    var entries: [LedgerFile.Entry] { (0...books.withLock { $0 }).flatMap { LedgerFile.entries(path($0)) } }

    /// A server process at `url`, or elsewhere, that listens already.
    /// - Parameter hasOwnBook: it counts from zero, in a new file.
    func start(
        at url: Endpoint? = nil, next: Endpoint? = nil, hasOwnBook: Bool = false, isSealed: Bool = false
    ) throws -> (server: ServerProgram, url: Endpoint) {
        let book = books.withLock { books in
            if hasOwnBook { books += 1 }
            return books
        }
        var environment = ["LEDGER_FILE": path(book)]
        environment["LEDGER_NEXT"] = next.map { "\($0)" }
        let listening = "\(url ?? (isSealed ? "tls://127.0.0.1:0" : self.url))"
        let server =
            isSealed
            ? try ServerProgram(
                "--listen", listening, "--quiet", "--maximum-wait", "0", "--tls-self-signed", folder.path,
                program: "ledger-server", environment: environment)
            : try ServerProgram(
                "--listen", listening, "--quiet", "--maximum-wait", "0", program: "ledger-server",
                environment: environment)
        return (server, try server.address())
    }

    /// What is wrong between what the callers were told and what is written down.
    /// - Parameters:
    ///   - isCounter: one counter at a time did all the counting.
    ///   - isComplete: every post must have come.
    func faults(_ crowd: Crowd, isCounter: Bool = true, isComplete: Bool = false) -> [HistoryFault] {
        let (check, entries) = (HistoryCheck(crowd.history.calls), entries)
        return check.faults(executions: entries.executions)
            + (isCounter ? check.faults(countingTo: entries.executions.count) : [])
            + check.faultsInEnding(slack: FaultRuns.slack + crowd.machineLateness)
            + HistoryCheck.faults(posts: entries.posts, sent: crowd.posted, isComplete: isComplete)
    }
}

/// Records faults, so few of them that a person can read them.
func expectNone(_ faults: [HistoryFault], sourceLocation: SourceLocation = #_sourceLocation) {
    guard !faults.isEmpty else { return }
    let few = faults.prefix(5).map { "\($0)" }.joined(separator: "; ")
    Issue.record("\(faults.count) faults: \(few)", sourceLocation: sourceLocation)
}
