// How many connections there are and from where. Pure: who comes and goes in, who may stay out.

import RPCWire

struct Occupancy {
    private let maximum: Int
    private let maximumPerAddress: Int
    private(set) var count = 0
    private var perAddress: [String: Int] = [:]

    init(maximum: Int, maximumPerAddress: Int) {
        self.maximum = maximum
        self.maximumPerAddress = maximumPerAddress
    }

    /// Somebody has come. The limit that keeps it out, if one does; nil counts it in.
    /// - Parameter address: nil for this machine, which has all the room there is.
    mutating func enter(from address: String?) -> Limit? {
        guard count < maximum else { return .maximumConnections }
        if let address {
            guard perAddress[address, default: 0] < maximumPerAddress else { return .maximumConnectionsPerAddress }
            perAddress[address, default: 0] += 1
        }
        count += 1
        return nil
    }

    /// Somebody who had been counted in has gone.
    mutating func leave(from address: String?) {
        count -= 1
        guard let address, let others = perAddress[address].map({ $0 - 1 }) else { return }
        perAddress[address] = others == 0 ? nil : others
    }
}
