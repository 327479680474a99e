// An object whose calls are told apart by the answer they get, and who asks for them by hand.

import RPCSockets
import RPCWire
import TestSupport

@testable import RemoteProxy

@Service(errors: TicketFailure.self)
protocol Tickets: Sendable {
    /// What is done with the ticket, and what the call finds.
    func take(_ number: Int, _ deed: String) async throws -> String
    func count() async throws -> Int
}

enum TicketFailure: Error, Codable, Sendable, Hashable {
    case soldOut
}

struct TicketOffice: Tickets {
    let loop: ManualLoop
    let log = Lock<[Int]>([])

    func take(_ number: Int, _ deed: String) async throws -> String {
        log.withLock { $0.append(number) }
        switch deed {
        case "fail": throw TicketFailure.soldOut
        case "wait": try? await loop.sleep(for: .milliseconds(1_000))
        case "linger": try? await loop.sleep(for: .seconds(60))
        case "give up": try await loop.sleep(for: .seconds(3_600))
        case "cancel": withUnsafeCurrentTask { $0?.cancel() }
        case "leave":
            let deadline = CallScope.current?.deadline
            Task(executorPreference: loop) { [loop, log] in
                try await loop.sleep(for: .milliseconds(500))
                let isItsOwn = CallScope.current?.deadline == deadline
                log.withLock { $0.append(isItsOwn ? -number : 0) }
            }
        case "who": return Caller.current.map { "\($0.id)" } ?? "nobody"
        case "toil": loop.pass(.microseconds(15))
        case "send for others": loop.submit { [log] in log.withLock { $0.append(0) } }
        default: break
        }
        let left = CallScope.current?.deadline.map { loop.now.duration(to: $0).nanoseconds / 1_000_000 }
        if deed == "linger" { log.withLock { $0.append(-number) } }
        return "\(number) \(Task.isCancelled ? "cancelled" : "runs") \(left ?? 0)"
    }

    func count() async throws -> Int { log.withLock { $0.count } }
}

extension HandwrittenEnd {
    /// Asks for tickets, all in one message, so that all of them wait before the first begins. Each has its number for an id,
    /// and as many seconds, unless all have the same time.
    /// - Parameter time: what each call says of its time, with a comma behind it; nil if each has its own.
    func ask(
        for deeds: [String], from office: String = "Tickets", beginningWith first: Int = 1, eachWith time: String? = nil
    ) {
        var calls: [String] = []
        for (id, deed) in zip(first..., deeds) {
            let rest = (time ?? #""timeout":\#(id)000,"#) + #""id":\#(id)}"#
            switch deed {
            case "count": calls.append(#"{"jsonrpc":"2.0","method":"\#(office).count",\#(rest)"#)
            case "incomplete": calls.append(#"{"jsonrpc":"2.0","method":"\#(office).take","params":[\#(id)],\#(rest)"#)
            default: calls.append(#"{"jsonrpc":"2.0","method":"\#(office).take","params":[\#(id),"\#(deed)"],\#(rest)"#)
            }
            guard deed == "withdrawn" else { continue }
            calls.append(#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":\#(id)}}"#)
        }
        say("[" + calls.joined(separator: ",") + "]")
    }
}
