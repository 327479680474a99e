// Transfers among all that happens: in each session they come in order, none twice and none left out, and as long as the session
// goes on, all of them come.

import JSONCodec
import RPCWire
import TestSupport

@testable import RemoteProxy

/// `@unchecked Sendable`: all of it is touched on the thread that runs the story only.
final class InterleavedTransfers: @unchecked Sendable {
    /// What one end of a session sends to the other.
    private final class Way: @unchecked Sendable {
        let (from, to): (Link, Link)
        var sent = 0
        var arrived: [Int] = []

        init(from: Link, to: Link) {
            (self.from, self.to) = (from, to)
            to.onTransfer = { [weak self] in self?.arrived.append(Self.number(in: $0)) }
        }

        private static func number(in transfer: Request) -> Int {
            transfer.params.flatMap { try? decodeJSON([Int].self, from: $0.memory).first } ?? -1
        }

        func send() -> Bool {
            let next = sent + 1
            guard !from.half.life.isOver, from.transfer("rpc.elements", { $0.append(raw: "[\(next)]") }) else {
                return false
            }
            sent = next
            return true
        }

        var faults: [String] {
            guard arrived.count <= sent, arrived.enumerated().allSatisfy({ $0.offset + 1 == $0.element }) else {
                return ["of \(sent) transfers these have come: \(arrived)"]
            }
            return []
        }

        /// What is wrong at the end, when all have had time to come.
        var lost: [String] {
            let goesOn = [from, to].allSatisfy { !$0.half.life.isOver && $0.half.life.isResumable }
            guard goesOn, arrived.count < sent else { return [] }
            return ["\(arrived.count) of \(sent) transfers have come"]
        }

        /// A test's last look, which also lets the links go.
        func end() { to.onTransfer = nil }
    }

    private let network: SimulatedNetwork
    private let client: RPCClient
    /// By session: the way to the server, and the way back.
    private var ways: [String: (there: Way, back: Way)] = [:]
    private var faults: [String] = []

    init(_ network: SimulatedNetwork, _ client: RPCClient) { (self.network, self.client) = (network, client) }

    /// Sends the next transfer of the session that there is. False if there is none.
    func send(fromClient: Bool) -> Bool {
        guard let near = client.requester.link, near.half.hasTransfers else { return false }
        if ways[near.id] == nil {
            guard let far = network.sessions.link(named: near.id) else { return false }
            ways[near.id] = (Way(from: near, to: far), Way(from: far, to: near))
        }
        guard let (there, back) = ways[near.id] else { return false }
        return fromClient ? there.send() : back.send()
    }

    func look() {
        guard faults.isEmpty else { return }
        for (there, back) in ways.values { faults += there.faults + back.faults }
    }

    /// What was wrong at any time, or is at the end.
    func audit() -> [String] {
        defer {
            for (there, back) in ways.values {
                there.end()
                back.end()
            }
            ways = [:]
        }
        return network.loop.pretend { faults + ways.values.flatMap { $0.there.lost + $0.back.lost } }
    }
}
