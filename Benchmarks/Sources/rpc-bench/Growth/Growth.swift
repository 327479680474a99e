// One axis along which a cost grows: sizes that go up step by step, and the workload at each of them.

/// An axis.
struct Growth: Sendable {
    let name: String
    let summary: String
    let sizes: [Int]
    /// The sizes that the plot writes out.
    let marks: [Int]
    /// Whether a size is a number of bytes, and speed the bytes that go each way in a second.
    var isInBytes = false
    /// The two sizes of which the second must be at least as fast as the first.
    var claim: (from: Int, to: Int)?
    let workload: @Sendable (_ size: Int) -> OverSockets

    static func named(_ name: String) throws(BenchFailure) -> Growth {
        guard let growth = all.first(where: { $0.name == name }) else {
            throw BenchFailure("there is no growth '\(name)'; there are \(all.map(\.name).joined(separator: ", "))")
        }
        return growth
    }

    /// The point of a name such as `callers-64`: children are told by name what they take part in.
    static func point(named name: String) -> Workload? {
        let words = name.split(separator: "-")
        guard words.count == 2, let size = Int(words[1]) else { return nil }
        return all.first { $0.name == words[0] && $0.sizes.contains(size) }?.point(at: size)
    }

    func point(at size: Int) -> Workload {
        Workload(name: "\(name)-\(size)", summary: summary, goal: nil, kind: .overSockets(workload(size)))
    }
}
