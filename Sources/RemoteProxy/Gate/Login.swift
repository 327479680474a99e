// Whether whoever is at the other end may come in, and as whom. Pure: what was said and how much of it in, decisions
// out. Until it is known who somebody is, every byte to and from it counts.

package struct Login: Sendable {
    private let maximumInput: Int
    private let maximumOutput: Int
    private var input = 0
    private var output = 0
    private var hasShownToken = false
    /// Who it is, as far as it has been proved.
    package private(set) var identity: Identity?
    /// Nothing may be called yet.
    package private(set) var isLocked: Bool

    /// - Parameters:
    ///   - needsProof: whether there are tokens to be shown.
    ///   - identity: who it is already known to be, from the system.
    package init(needsProof: Bool, identity: Identity?, maximumInput: Int, maximumOutput: Int) {
        isLocked = needsProof && identity == nil
        self.identity = identity
        self.maximumInput = maximumInput
        self.maximumOutput = maximumOutput
    }

    /// A token was shown.
    /// - Parameter owner: whose it is; nil for nobody's.
    /// - Returns: whether it lets its owner in. Nobody becomes somebody else on the way.
    package mutating func show(tokenOf owner: Identity?) -> Bool {
        guard let owner, !hasShownToken || owner == identity else { return false }
        hasShownToken = true
        identity = owner
        isLocked = false
        return true
    }

    /// So many bytes have come. Whether they may.
    package mutating func received(_ count: Int) -> Bool {
        Self.add(count, to: &input, ifLocked: isLocked, most: maximumInput)
    }

    /// So many bytes are about to go. Whether they may.
    package mutating func answers(_ count: Int) -> Bool {
        Self.add(count, to: &output, ifLocked: isLocked, most: maximumOutput)
    }

    private static func add(_ count: Int, to sum: inout Int, ifLocked isLocked: Bool, most: Int) -> Bool {
        guard isLocked else { return true }
        sum = count > most - min(sum, most) ? .max : sum + count
        return sum <= most
    }
}
