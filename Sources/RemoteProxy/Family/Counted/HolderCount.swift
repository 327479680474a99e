// Who holds a counted object, and whether there is one. Holders coming and going and the ends of making and telling in,
// what is to be done out; the object itself is the driver's.

struct HolderCount {
    enum Phase: Sendable {
        case absent
        case making
        case present
        /// The last holder has left, and is being told to have.
        case leaving
    }

    enum Step: Sendable {
        case nothing
        case make
        /// The object is to be let go, and its owner told.
        case tell
    }

    private(set) var phase = Phase.absent
    private(set) var holders = 0

    /// One more, who finds an object or has one made.
    mutating func joined() -> Step {
        holders += 1
        return makeIfWanted()
    }

    /// As many fewer.
    mutating func left(_ count: Int = 1) -> Step {
        holders -= count
        return tellIfUnwanted()
    }

    /// Nobody may be left to have wanted it.
    mutating func made() -> Step {
        phase = .present
        return tellIfUnwanted()
    }

    /// Those who hold have nothing; the next who comes has it tried again.
    mutating func failed() { phase = .absent }

    /// The former object is out of the way, and some may wait for the next already.
    mutating func told() -> Step {
        phase = .absent
        return holders > 0 ? makeIfWanted() : .nothing
    }

    private mutating func makeIfWanted() -> Step {
        guard phase == .absent else { return .nothing }
        phase = .making
        return .make
    }

    private mutating func tellIfUnwanted() -> Step {
        guard phase == .present, holders == 0 else { return .nothing }
        phase = .leaving
        return .tell
    }
}
