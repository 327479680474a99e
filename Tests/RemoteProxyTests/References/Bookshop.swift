// Objects that are handed around by reference, for the tests of references.

import RPCSockets
import RPCWire
import Synchronization
import TestSupport

@testable import RemoteProxy

@Service
protocol Volume: Sendable {
    func title() async throws -> String
    /// Another volume, which this one knows.
    func sequel() async throws -> Parcel
}

@Service
protocol Reader: Sendable {
    func opened(_ title: String)
    func likes(_ title: String) async throws -> Bool
}

/// Any number of volumes and readers in one value.
struct Parcel: Codable, Sendable {
    var volumes: [Reference<VolumeProxy>] = []
    var reader: Reference<ReaderProxy>?
    /// For a history: the name of the reader there, and the session in which the parcel is sent.
    var nameOfReader: String?
    var session: Int?

    init(_ volumes: [any Volume] = [], for reader: (any Reader)? = nil) {
        self.volumes = volumes.map { Reference($0) }
        self.reader = reader.map { Reference($0) }
    }

    /// The first volume.
    var volume: any Volume {
        get throws {
            guard let first = volumes.first else {
                throw RPCError(.noSuchObject, "the parcel is empty", outcome: .executed)
            }
            return first.object
        }
    }
}

@Service
protocol Bookshop: Sendable {
    func open(_ title: String) async throws -> Parcel
    func open(all titles: [String]) async throws -> Parcel
    /// Whether the first two volumes are one object.
    func areSame(_ parcel: Parcel) async throws -> Bool
    /// The same parcel.
    func echo(_ parcel: Parcel) async throws -> Parcel
    func keep(_ parcel: Parcel) async throws
    func note(_ parcel: Parcel)
    func drop() async throws
    /// Asks the reader on the parcel.
    func ask(_ parcel: Parcel, about title: String) async throws -> Bool
    func fail(_ parcel: Parcel) async throws -> Parcel
}

final class PrintedVolume: Volume {
    private let name: String
    private let alive: Census
    let next = Lock<(any Volume)?>(nil)

    init(_ name: String, _ alive: Census) {
        (self.name, self.alive) = (name, alive)
        alive.add(1)
    }

    deinit { alive.gone("volume \(name)") }

    func title() async throws -> String { name }
    func sequel() async throws -> Parcel { Parcel([next.withLock { $0 }].compactMap(\.self)) }
}

final class Census: Sendable {
    private let count = Atomic(0)
    private let history: ObjectHistory?

    /// - Parameter history: where the end of each is noted.
    init(_ history: ObjectHistory? = nil) { self.history = history }

    func gone(_ name: @autoclosure () -> String) {
        add(-1)
        history?.note(.gone(name()))
    }

    func add(_ change: Int) { count.add(change, ordering: .relaxed) }
    var value: Int { count.load(ordering: .relaxed) }
}

final class KeenReader: Reader {
    let titles = Lock<[String]>([])
    let name: String
    private let alive: Census

    init(_ alive: Census, name: String = "reader") {
        (self.alive, self.name) = (alive, name)
        alive.add(1)
    }

    deinit { alive.gone(name) }

    func opened(_ title: String) { titles.withLock { $0.append(title) } }
    func likes(_ title: String) async throws -> Bool { title.hasPrefix("M") }
}

/// Gives the same volume for a title while it is alive.
final class CornerBookshop: Bookshop {
    private struct Known {
        weak var volume: PrintedVolume?
    }

    let alive: Census
    let kept = Lock<[Parcel]>([])
    private let known = Lock<[String: Known]>([:])
    private let noting: (@Sendable (Parcel, _ isHeld: Bool) -> Void)?

    /// - Parameter noting: called with each parcel that is kept now, and before it is let go.
    init(_ history: ObjectHistory? = nil, noting: (@Sendable (Parcel, _ isHeld: Bool) -> Void)? = nil) {
        alive = Census(history)
        self.noting = noting
    }

    private func volume(_ title: String) -> PrintedVolume {
        known.withLock { known in
            if let volume = known[title]?.volume { return volume }
            let volume = PrintedVolume(title, alive)
            known[title] = Known(volume: volume)
            return volume
        }
    }

    func open(_ title: String) async throws -> Parcel { Parcel([volume(title)]) }
    func open(all titles: [String]) async throws -> Parcel { Parcel(titles.map { volume($0) }) }

    func areSame(_ parcel: Parcel) async throws -> Bool {
        guard parcel.volumes.count == 2 else { return false }
        let (one, other) = (parcel.volumes[0].object, parcel.volumes[1].object)
        return one is PrintedVolume && one as AnyObject === other as AnyObject
    }

    func echo(_ parcel: Parcel) async throws -> Parcel { parcel }
    func keep(_ parcel: Parcel) async throws { note(parcel) }

    func note(_ parcel: Parcel) {
        noting?(parcel, true)
        kept.withLock { $0.append(parcel) }
    }

    func drop() async throws { letGo() }

    /// Lets go of all that it keeps.
    func letGo() {
        let kept = kept.withLock { kept in
            defer { kept = [] }
            return kept
        }
        for parcel in kept { noting?(parcel, false) }
    }

    func ask(_ parcel: Parcel, about title: String) async throws -> Bool {
        guard let reader = parcel.reader?.object else { return false }
        reader.opened(title)
        return try await reader.likes(title)
    }

    func fail(_ parcel: Parcel) async throws -> Parcel { throw RPCError(.denied, "closed", outcome: .executed) }
}

extension Reference {
    /// Whether both refer to one object.
    func isSame(as other: Reference) -> Bool { Proxy(object).isIdentical(to: other.object) }
}
