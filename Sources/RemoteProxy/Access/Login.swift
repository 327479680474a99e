// Whether whoever is at the other end may come in, and as whom. Pure: what was said and how much of it in, decisions
// out. Until it is known who somebody is, every byte to and from it counts.

package struct Login: Sendable {
    private let maximumInput: Int
    private let maximumOutput: Int
    private var input = 0
    private var output = 0
    /// The line of the token list whose token was shown last.
    package private(set) var entry: TokenList.Entry?
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

    /// A token was shown. Returns whether it lets its owner in; an owner that is known by a token cannot become another.
    /// - Parameter entry: the line of the token list that has the token; nil if none has.
    package mutating func show(_ entry: TokenList.Entry?) -> Bool {
        guard let entry, self.entry == nil || entry.identity == identity else { return false }
        self.entry = entry
        identity = entry.identity
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
