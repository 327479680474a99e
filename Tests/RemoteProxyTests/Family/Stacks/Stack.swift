// A stack of subjects as a value: what both the real one and the model are made from.

import RPCWire
import RemoteProxy
import TestSupport

indirect enum Stack: Sendable {
    /// What a guard says of the method it does not like.
    enum Refusal: CaseIterable, Sendable {
        case denied
        case silently
        /// Denied by a policy that asks.
        case asking
    }

    /// A subject that records, by its number.
    case object(Int)
    case guarded(against: String, Refusal, Stack)
    case observed(Int, Stack)
    case retrying(Int, attempts: Int, Stack)
    case limited(milliseconds: Int, Stack)
    case failover(Int, [Stack])
    case locked(readersTogether: Bool, Stack)
    /// Keeps the results of `balance` for good.
    case cached(Int, Stack)
    case lazy(Int, Stack)
    /// Late-bound, and bound.
    case bound(Stack)
    /// Made for each call or post, unless a handle keeps it.
    case counted(Int, isHeld: Bool, Stack)
    /// An object that calls the stack, referred to weakly.
    case weak(Int, Stack)
    /// To proxies, and to the very objects of those that are weak.
    case multicast([Stack])

    /// What it is around.
    var members: [Stack] {
        switch self {
        case .object: []
        case .failover(_, let members), .multicast(let members): members
        case .guarded(_, _, let next), .observed(_, let next), .retrying(_, _, let next), .limited(_, let next),
            .locked(_, let next), .cached(_, let next), .lazy(_, let next), .bound(let next), .weak(_, let next),
            .counted(_, _, let next):
            [next]
        }
    }

    /// Whether something in it is done by several in their own time, which have no order among them.
    var hasSeveral: Bool {
        switch self {
        case .counted, .multicast: true
        default: members.contains(where: \.hasSeveral)
        }
    }
}

/// What a recording subject does with a call.
enum Reaction: Sendable {
    case answers
    case answersAfter(milliseconds: Int)
    case fails(RPCError)
}

/// One thing that a test does to a stack.
enum Operation: Sendable {
    case balance
    case set(Int)
    case add(Int)
    case withdraw(Int)
    case note(String)
    /// Whoever kept the objects that are referred to weakly lets go of half of them: the odd or the even ones.
    case letGo(odd: Bool)

    var name: String {
        switch self {
        case .balance: "balance"
        case .set: "set"
        case .add: "add"
        case .withdraw: "withdraw"
        case .note: "note"
        case .letGo: ""
        }
    }

    var isRepeatable: Bool {
        switch self {
        case .balance, .set: true
        case .add, .withdraw, .note, .letGo: false
        }
    }
}

/// How an operation ended, comparable.
enum StackEnding: Hashable, Sendable {
    case value(Int)
    case posted
    case overdrawn
    case failed(RPCError.Code, RPCError.Outcome)
}

extension SeededGenerator {
    /// - Parameter isLimited: whether a time limit is around it. What a cache fetches goes on when its caller has given
    ///   up, which a model without tasks cannot tell; so caches stand outside time limits only.
    mutating func stack(depth: Int, _ numbers: inout Int, isLimited: Bool = false) -> Stack {
        numbers += 1
        let number = numbers
        guard depth > 0 else { return .object(number) }
        var isLimited = isLimited
        let kind = Int.random(in: 0..<20, using: &self)
        if kind == 7 || kind == 8 { isLimited = true }
        func next(_ step: Int = 1) -> Stack { stack(depth: depth - step, &numbers, isLimited: isLimited) }
        switch kind {
        case 0...2:
            let name = ["balance", "set", "add", "withdraw", "note"].randomElement(using: &self) ?? ""
            let refusal = Stack.Refusal.allCases.randomElement(using: &self) ?? .denied
            return .guarded(against: name, refusal, next())
        case 3...4: return .observed(number, next())
        case 5...6:
            let attempts = Int.random(in: 1...4, using: &self)
            return .retrying(number, attempts: attempts, next())
        case 7...8:
            let milliseconds = Int.random(in: 10...400, using: &self)
            return .limited(milliseconds: milliseconds, next())
        case 9: return .locked(readersTogether: Bool.random(using: &self), next())
        case 12: return .lazy(number, next())
        case 13: return .bound(next())
        case 14: return .counted(number, isHeld: Bool.random(using: &self), next())
        case 15...16: return .weak(number, next())
        case 17: return .multicast((0..<Int.random(in: 0...3, using: &self)).map { _ in next(2) })
        case 10 where !isLimited, 11 where !isLimited: return .cached(number, next())
        default:
            let members = (0..<Int.random(in: 0...3, using: &self)).map { _ in next(2) }
            return .failover(number, members)
        }
    }

    mutating func reaction() -> Reaction {
        switch Int.random(in: 0..<10, using: &self) {
        case 0...3: .answers
        case 4: .answersAfter(milliseconds: Int.random(in: 1...200, using: &self))
        case 5...6: .fails(.busy)
        case 7...8: .fails(.lost)
        default: .fails(.broken)
        }
    }

    mutating func operation() -> Operation {
        switch Int.random(in: 0..<11, using: &self) {
        case 0...1: .balance
        case 2...3: .set(Int.random(in: 0..<100, using: &self))
        case 4...5: .add(Int.random(in: 0..<100, using: &self))
        case 6...7: .withdraw(Int.random(in: 0..<100, using: &self))
        case 8: .letGo(odd: Bool.random(using: &self))
        default: .note("\(Int.random(in: 0..<100, using: &self))")
        }
    }
}
