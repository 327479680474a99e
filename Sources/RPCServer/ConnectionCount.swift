// Counts connections and says which one is beyond a limit. Pure: arrivals and ends in, refusals out.

import RPCWire
import RemoteProxy

/// Counts the connections of a server, in all and from each address.
struct ConnectionCount {
    private let limits: Limits
    private(set) var all = 0
    private var perAddress: [String: Int] = [:]

    init(_ limits: Limits) { self.limits = limits }

    /// Adds a connection, unless it is beyond a limit.
    /// - Parameter address: nil for this machine, for which only the limit in all counts.
    /// - Returns: the limit that it exceeds; nil if it was added.
    mutating func add(from address: String?) -> Limit? {
        guard all < limits.maximumConnections else { return .maximumConnections }
        if let address {
            let others = perAddress[address, default: 0]
            guard others < limits.maximumConnectionsPerAddress else { return .maximumConnectionsPerAddress }
            perAddress[address] = others + 1
        }
        all += 1
        return nil
    }

    /// Removes a connection that had been added.
    mutating func remove(from address: String?) {
        all -= 1
        guard let address, let others = perAddress[address].map({ $0 - 1 }) else { return }
        perAddress[address] = others == 0 ? nil : others
    }
}
