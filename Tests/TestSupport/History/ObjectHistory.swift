// What became of objects by reference, written down by both of their ends in the order in which it happened.

import RPCSockets

/// Something that happened to an object that another end may hold.
package enum ObjectEvent: Sendable, Hashable {
    /// An end has got a proxy for the object, which lives at the other one.
    case held(_ object: String, inSession: Int)
    /// It is about to let go of such a proxy.
    case letGo(_ object: String, inSession: Int)
    /// A session is about to end.
    case sessionEnded(Int)
    /// The object is gone: its deinit has begun.
    case gone(_ object: String)
}

package final class ObjectHistory: Sendable {
    private let all = Lock<[ObjectEvent]>([])

    package init() {}

    package var events: [ObjectEvent] { all.withLock { $0 } }

    package func note(_ event: ObjectEvent) { all.withLock { $0.append(event) } }
    package func note(_ events: some Sequence<ObjectEvent>) { all.withLock { $0 += events } }
}

extension HistoryCheck {
    /// Rule h. The same name may be given to another object when the first is gone.
    package static func faults(objects events: [ObjectEvent]) -> [HistoryFault] {
        // How many proxies there are for an object, in each session that goes on.
        var held: [Int: [String: Int]] = [:]
        var ended: Set<Int> = []
        var faults: [HistoryFault] = []
        for (place, event) in events.enumerated() {
            switch event {
            case .held(let object, let session):
                if !ended.contains(session) { held[session, default: [:]][object, default: 0] += 1 }
            case .letGo(let object, let session):
                guard let count = held[session]?[object] else { continue }
                held[session]?[object] = count > 1 ? count - 1 : nil
            case .sessionEnded(let session):
                held[session] = nil
                ended.insert(session)
            case .gone(let object):
                for session in held.keys.sorted() {
                    guard let count = held[session]?[object] else { continue }
                    let what = "\(object) is gone at event \(place), and has \(count) proxies in session \(session)"
                    faults.append(HistoryFault(rule: .reachable, what: what))
                }
            }
        }
        return faults
    }
}
