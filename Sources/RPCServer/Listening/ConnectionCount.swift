// How many connections there are and from where, and which one is one too many. Pure: arrivals and ends in, refusals out.

import RPCWire
import RemoteProxy

/// Counts the connections of a server, in all and from each address.
struct ConnectionCount {
    private let limits: Limits
    private(set) var all = 0
    private var perAddress: [String: Int] = [:]

    init(_ limits: Limits) { self.limits = limits }

    /// Counts a connection in, unless it is one too many.
    /// - Parameter address: nil for this machine, which has a limit only in all.
    /// - Returns: the limit that keeps it out, or nil.
    mutating func enter(from address: String?) -> Limit? {
        guard all < limits.maximumConnections else { return .maximumConnections }
        if let address {
            let others = perAddress[address, default: 0]
            guard others < limits.maximumConnectionsPerAddress else { return .maximumConnectionsPerAddress }
            perAddress[address] = others + 1
        }
        all += 1
        return nil
    }

    /// A connection that had been counted in has ended.
    mutating func leave(from address: String?) {
        all -= 1
        guard let address, let others = perAddress[address].map({ $0 - 1 }) else { return }
        perAddress[address] = others == 0 ? nil : others
    }
}
