// The objects that are handed around by reference while the input is at the other end, and what is known of them.

import Glibc
import RPCSockets
import Synchronization
import TestSupport

@testable import RemoteProxy

@Service
protocol Figure: Sendable {
    func name() async throws -> Int
}

@Service
protocol Cabinet: Sendable {
    func make(_ count: Int) async throws -> [any Figure]
    /// One that can be held.
    func makeLocked() async throws -> any Figure
    func echo(_ figures: [any Figure]) async throws -> [any Figure]
    func keep(_ figures: [any Figure]) async throws
    func note(_ figures: [any Figure])
    func drop() async throws
    /// Asks each for its name, at its own end.
    func ask(_ figures: [any Figure]) async throws -> Int
    func fail(_ figures: [any Figure]) async throws -> any Figure
    func watch(_ number: Int, progress: @escaping @Sendable (Int) -> Void) async throws
}

/// What the inputs of this run have reached, for the end of it: a target that reaches nothing finds nothing.
enum Reached: Int, CaseIterable {
    case called, taken, sentBack, released, held, invoked, resumed, calledAtClient, takenByClient, releasedByClient
    case sentBackToClient, droppedByClient

    private static let counts = Lock([Int](repeating: 0, count: allCases.count))

    func count(_ more: Int = 1) { Self.counts.withLock { $0[rawValue] += more } }

    /// Writes all counts to the log of the run when the process ends.
    static let areTold: Void = {
        atexit {
            let counts = Reached.counts.withLock { $0 }
            let words = Reached.allCases.map { "\($0) \(counts[$0.rawValue])" }
            let line = "reached: \(words.joined(separator: ", "))\n"
            _ = line.withCString { write(2, $0, strlen($0)) }
        }
    }()
}

/// How many objects of one end are there.
final class FigureCount: Sendable {
    private let numbers = Lock((alive: 0, gone: 0))

    var alive: Int { numbers.withLock { $0.alive } }
    var gone: Int { numbers.withLock { $0.gone } }
    fileprivate func came() { numbers.withLock { $0.alive += 1 } }
    fileprivate func went() { numbers.withLock { $0 = ($0.alive - 1, $0.gone + 1) } }
}

final class PlainFigure: Figure {
    private let number: Int
    private let count: FigureCount
    private let called: Reached

    init(_ number: Int, _ count: FigureCount, called: Reached) {
        (self.number, self.count, self.called) = (number, count, called)
        count.came()
    }

    deinit { count.went() }

    func name() async throws -> Int {
        called.count()
        return number
    }
}

/// The object behind which all others of the server are.
final class FuzzedCabinet: Cabinet {
    let count = FigureCount()
    private let loop: ManualLoop
    private let state = Lock(
        (kept: [[any Figure]](), watchers: [@Sendable (Int) -> Void](), sessions: [SessionObjects]()))

    init(_ loop: ManualLoop) { self.loop = loop }

    /// The objects of all sessions in which there was a call.
    var sessions: [SessionObjects] { state.withLock { $0.sessions } }

    private func enter() {
        guard let session = Caller.current?.requester.link?.objects else { return }
        state.withLock { state in
            if !state.sessions.contains(where: { $0 === session }) { state.sessions.append(session) }
        }
    }

    private func see(_ figures: [any Figure]) {
        enter()
        let own = figures.count { $0 is PlainFigure }
        Reached.sentBack.count(own)
        Reached.taken.count(figures.count - own)
    }

    private func figure(_ number: Int) -> PlainFigure { PlainFigure(number, count, called: .called) }

    func make(_ count: Int) async throws -> [any Figure] {
        enter()
        return (0..<max(0, min(count, 8))).map { figure($0) }
    }

    func makeLocked() async throws -> any Figure {
        enter()
        return FigureProxy(figure(-1)).locked(clock: loop)
    }

    func echo(_ figures: [any Figure]) async throws -> [any Figure] {
        see(figures)
        return figures
    }

    func keep(_ figures: [any Figure]) async throws { note(figures) }

    func note(_ figures: [any Figure]) {
        see(figures)
        state.withLock { $0.kept.append(figures) }
    }

    func drop() async throws { letGo() }

    /// Lets go of all that it keeps.
    func letGo() {
        let old = state.withLock { state in
            defer { (state.kept, state.watchers) = ([], []) }
            return (state.kept, state.watchers)
        }
        withExtendedLifetime(old) {}
    }

    func ask(_ figures: [any Figure]) async throws -> Int {
        see(figures)
        var sum = 0
        for figure in figures { sum &+= (try? await figure.name()) ?? 0 }
        for watcher in state.withLock({ $0.watchers }) { watcher(sum) }
        return sum
    }

    func fail(_ figures: [any Figure]) async throws -> any Figure {
        see(figures)
        throw RPCError(.denied, "closed", outcome: .executed)
    }

    func watch(_ number: Int, progress: @escaping @Sendable (Int) -> Void) async throws {
        enter()
        progress(number)
        state.withLock { $0.watchers.append(progress) }
    }
}

extension Dice {
    /// Few handles go round, and now and then a number that is none.
    mutating func handle() -> Int64 { roll(16) == 0 ? number() : Int64(1 + roll(6)) }

    /// So many tokens as values have them, and the list that a message has of them, which may lie.
    mutating func tokens() -> (text: String, list: String) {
        var (texts, list) = ([String](), [Int64]())
        for _ in 0..<roll(4) {
            let (handle, isSenders) = (handle(), roll(2) == 0)
            let service = ["", #","service":"Figure""#, #","service":"Cabinet""#][roll(8) > 5 ? 2 : roll(2)]
            let kind = roll(32) == 0 ? number() : isSenders ? 1 : 0
            texts.append(#"{"__jsonrpc_marshaled":\#(kind),"handle":\#(handle)\#(service)}"#)
            if roll(16) > 0 { list.append(isSenders ? handle : 0 &- handle) }
        }
        if roll(16) == 0 { list.append(number()) }
        return ("[\(texts.joined(separator: ","))]", list.isEmpty ? "" : #","objects":\#(list)"#)
    }

    /// The parameters with which objects are given back: as they came, or anything.
    mutating func givenBack() -> String {
        if roll(10) == 0 { return "[[\(handle())]]" }
        if roll(20) == 0 { return "[\(text(12))]" }
        let parts = (0..<1 + roll(3)).map { _ in
            "[\(handle()),\(roll(12) == 0 ? number() : Int64(1 + roll(2)))]"
        }
        return "[\(parts.joined(separator: ","))]"
    }

    /// An object is given back by a peer that does not run this library.
    mutating func foreignRelease() -> String {
        let whose = roll(8) == 0 ? "" : #","ownedBySender":\#(roll(2) == 0)"#
        return #"{"jsonrpc":"2.0","method":"$/releaseMarshaledObject","params":{"handle":\#(handle())\#(whose)}}"#
    }
}
