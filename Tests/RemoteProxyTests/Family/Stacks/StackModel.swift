// What a stack of subjects means, written plainly: no tasks, no locks, no proxies, and a clock that is a number.

import RPCWire
import TestSupport

@testable import RemoteProxy

struct StackModel {
    private struct Object {
        var amount = 0
        var notes: [String] = []
        var reactions: [Reaction]
    }

    private(set) var now = Instant(nanoseconds: 0)
    private(set) var log: [String] = []
    private let reactions: (_ object: Int) -> [Reaction]
    private var objects: [Int: Object] = [:]
    private var budgets: [Int: (calls: Int, account: RetryAccount)] = [:]
    /// Who of several answered last.
    private var favourites: [Int: Int] = [:]
    /// The balances that caches have seen.
    private var seen: [Int: Int] = [:]
    /// What lazy proxies have made.
    private var made: Set<Int> = []
    /// Posts that a guard keeps until it has asked, or a lazy proxy until it has made what it is to make.
    private var kept: [(text: String, for: Stack, making: Int?, counted: Int?)] = []
    /// Which of the objects that are referred to weakly are gone.
    private var areGone = (odd: false, even: false)

    init(reactions: @escaping (_ object: Int) -> [Reaction]) { self.reactions = reactions }

    /// What the stack does when it has been made: handles have what they hold made.
    mutating func begin(_ stack: Stack) {
        for member in stack.members { begin(member) }
        if case .counted(let number, isHeld: true, _) = stack { log.append("\(number) made") }
    }

    mutating func perform(_ operation: Operation, on stack: Stack) -> StackEnding {
        switch operation {
        case .balance, .set, .add, .withdraw: return call(operation, stack, until: .distantFuture)
        case .note(let text): post(text, stack)
        case .letGo(let odd): letGo(stack, odd: odd)
        }
        while !kept.isEmpty {
            let post = kept.removeFirst()
            if let number = post.making { log.append("\(number) made") }
            self.post(post.text, post.for)
            if let number = post.counted { log.append("\(number) let go") }
        }
        return .posted
    }

    private mutating func letGo(_ stack: Stack, odd: Bool) {
        guard odd ? !areGone.odd : !areGone.even else { return }
        end(stack, odd: odd, isKept: true)
        if odd { areGone.odd = true } else { areGone.even = true }
    }

    /// With an object that was referred to weakly goes what it has, handles too, up to the next object that has a life
    /// of its own.
    private mutating func end(_ stack: Stack, odd: Bool, isKept: Bool) {
        var isKept = isKept
        if case .weak(let number, _) = stack { isKept = number.isMultiple(of: 2) == odd }
        if case .counted(let number, isHeld: true, _) = stack, !isKept { log.append("\(number) let go") }
        for member in stack.members { end(member, odd: odd, isKept: isKept) }
    }

    private func isGone(_ number: Int) -> Bool { number.isMultiple(of: 2) ? areGone.even : areGone.odd }

    private mutating func call(_ operation: Operation, _ stack: Stack, until deadline: Instant) -> StackEnding {
        switch stack {
        case .object(let number): return call(operation, object: number)
        case .guarded(let name, let refusal, let next):
            guard operation.name == name else { return call(operation, next, until: deadline) }
            return .failed(refusal == .silently ? .noSuchMethod : .denied, .notExecuted)
        case .observed(let number, let next):
            let began = now
            let ending = call(operation, next, until: deadline)
            see(operation.name, ending, number, since: began)
            return ending
        case .retrying(let number, let attempts, let next):
            return retry(operation, next, number, attempts, until: deadline)
        case .limited(let milliseconds, let next):
            return call(operation, next, until: min(deadline, now.advanced(by: .milliseconds(milliseconds))))
        case .lazy(let number, let next):
            if made.insert(number).inserted { log.append("\(number) made") }
            return call(operation, next, until: deadline)
        case .locked(_, let next), .bound(let next): return call(operation, next, until: deadline)
        case .cached(let number, let next):
            guard case .balance = operation else {
                let ending = call(operation, next, until: deadline)
                if case .failed(_, .notExecuted) = ending { return ending }
                seen[number] = nil
                return ending
            }
            if let amount = seen[number] { return .value(amount) }
            let ending = call(operation, next, until: now.advanced(by: .seconds(30)))
            if case .value(let amount) = ending { seen[number] = amount }
            return ending
        case .failover(let number, let members):
            return choose(operation, members, number, until: deadline)
        case .counted(let number, let isHeld, let next):
            if !isHeld { log.append("\(number) made") }
            defer { if !isHeld { log.append("\(number) let go") } }
            return call(operation, next, until: deadline)
        case .weak(let number, let next):
            if isGone(number) { return .failed(.noSuchObject, .notExecuted) }
            // What did not run is the call that the object made, not the one that it was called with.
            let ending = call(operation, next, until: deadline)
            if case .failed(let code, .notExecuted) = ending { return .failed(code, .executed) }
            return ending
        case .multicast:
            return .failed(.noSuchMethod, .notExecuted)
        }
    }

    private mutating func retry(
        _ operation: Operation, _ next: Stack, _ number: Int, _ attempts: Int, until given: Instant
    ) -> StackEnding {
        let deadline = given == .distantFuture ? now.advanced(by: .seconds(30)) : given
        budgets[number, default: (0, RetryAccount())].calls += 1
        var mayHaveRun = false
        var attempt = 1
        while true {
            let ending = call(operation, next, until: attempt == 1 ? given : deadline)
            guard case .failed(let code, var outcome) = ending else { return ending }
            if outcome == .unknown { mayHaveRun = true }
            if mayHaveRun, outcome == .notExecuted { outcome = .unknown }
            let isWorthIt =
                [.busy, .unavailable, .connectionLost, .deadlineExceeded].contains(code)
                && (outcome == .notExecuted || outcome == .unknown && operation.isRepeatable)
            let end = now.advanced(by: .milliseconds(min(50 << (attempt - 1), 2_000)))
            guard attempt < attempts, isWorthIt, end < deadline, withdraw(from: number) else {
                return .failed(code, outcome)
            }
            now = end
            attempt += 1
        }
    }

    private mutating func withdraw(from number: Int) -> Bool {
        guard let calls = budgets[number]?.calls else { return false }
        return budgets[number]?.account.withdraw(afterCalls: calls, at: now) ?? false
    }

    private mutating func choose(
        _ operation: Operation, _ members: [Stack], _ number: Int, until deadline: Instant
    ) -> StackEnding {
        guard !members.isEmpty else { return .failed(.unavailable, .notExecuted) }
        let first = favourites[number] ?? 0
        var failure: StackEnding?
        var mayHaveRun = false
        for step in members.indices {
            let member = (first + step) % members.count
            let ending = call(operation, members[member], until: deadline)
            guard case .failed(let code, let outcome) = ending, code != .denied,
                outcome == .notExecuted || outcome == .unknown && operation.isRepeatable
            else {
                favourites[number] = member
                if mayHaveRun, case .failed(let code, .notExecuted) = ending { return .failed(code, .unknown) }
                return ending
            }
            mayHaveRun = mayHaveRun || outcome == .unknown
            failure = .failed(code, mayHaveRun ? .unknown : outcome)
            if now >= deadline { break }
        }
        return failure ?? .posted
    }

    private mutating func post(_ text: String, _ stack: Stack) {
        switch stack {
        case .object(let number):
            objects[number, default: Object(reactions: reactions(number))].notes.append(text)
            log.append("\(number) noted: \(objects[number]?.notes.joined(separator: " ") ?? "")")
        case .guarded(let name, let refusal, let next):
            if name == "note" { return }
            if refusal == .asking { kept.append((text, next, nil, nil)) } else { post(text, next) }
        case .observed(let number, let next):
            post(text, next)
            see("note", .posted, number, since: now)
        case .lazy(let number, let next):
            if made.insert(number).inserted { kept.append((text, next, number, nil)) } else { post(text, next) }
        case .bound(let next), .retrying(_, _, let next), .limited(_, let next), .locked(_, let next):
            post(text, next)
        case .cached(let number, let next):
            post(text, next)
            seen[number] = nil
        case .failover(let number, let members):
            if !members.isEmpty { post(text, members[favourites[number] ?? 0]) }
        case .counted(let number, let isHeld, let next):
            if isHeld { post(text, next) } else { kept.append((text, next, number, number)) }
        case .weak(let number, let next):
            if !isGone(number) { post(text, next) }
        case .multicast(let members):
            for member in members { post(text, member) }
        }
    }

    private mutating func see(_ name: String, _ ending: StackEnding, _ number: Int, since began: Instant) {
        let seen = if case .value = ending { StackEnding.value(0) } else { ending }
        log.append("\(number) saw \(name): \(seen) in \(began.duration(to: now))")
    }

    private mutating func call(_ operation: Operation, object number: Int) -> StackEnding {
        log.append("\(number) called: \(operation.name)")
        var object = objects[number] ?? Object(reactions: reactions(number))
        defer { objects[number] = object }
        switch object.reactions.isEmpty ? .answers : object.reactions.removeFirst() {
        case .answers: break
        case .answersAfter(let milliseconds): now = now.advanced(by: .milliseconds(milliseconds))
        case .fails(let error): return .failed(error.code, error.outcome)
        }
        switch operation {
        case .balance, .note, .letGo: break
        case .set(let amount): object.amount = amount
        case .add(let amount): object.amount += amount
        case .withdraw(let amount):
            guard object.amount >= amount else { return .overdrawn }
            object.amount -= amount
        }
        return .value(object.amount)
    }
}
