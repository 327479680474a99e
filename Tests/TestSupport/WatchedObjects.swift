// Objects that must be gone at the end of a test.

struct WatchedObjects: Sendable {
    private struct Watched: Sendable {
        weak let object: (any AnyObject & Sendable)?
    }

    private var all: [Watched] = []
    private var sweepAt = 64

    mutating func add(_ objects: any AnyObject & Sendable...) {
        if all.count >= sweepAt {
            all.removeAll { $0.object == nil }
            sweepAt = max(64, all.count * 2)
        }
        all += objects.map { Watched(object: $0) }
    }

    /// The types of those that are still there.
    var left: [String] { all.compactMap { $0.object.map { "\(type(of: $0))" } } }
}
