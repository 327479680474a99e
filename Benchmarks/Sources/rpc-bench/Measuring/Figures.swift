// What a run found: numbers by name, in the order they were found. Printed by a child as lines, read by its parent.

/// Named numbers.
struct Figures: Sendable {
    private(set) var names: [String] = []
    private var values: [String: Double] = [:]

    subscript(name: String) -> Double? {
        get { values[name] }
        set {
            if values[name] == nil, newValue != nil { names.append(name) }
            values[name] = newValue
            if newValue == nil { names.removeAll { $0 == name } }
        }
    }

    init() {}

    /// Reads what `lines` wrote.
    init(lines text: String) throws(BenchFailure) {
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 2, let value = Double(words[1]) else {
                throw BenchFailure("a child said '\(line)' where a figure was expected")
            }
            self[String(words[0])] = value
        }
    }

    /// Takes the others in; of those that both have, the later one stays.
    mutating func add(_ others: Figures) {
        for name in others.names { self[name] = others[name] }
    }

    var lines: String { names.map { "\($0) \(self[$0] ?? .nan)\n" }.joined() }

    /// The figures of several runs in one: the middle one of each.
    static func medians(of runs: [Figures]) -> Figures {
        var result = Figures()
        for name in runs.first?.names ?? [] {
            result[name] = median(of: runs.compactMap { $0[name] })
        }
        return result
    }

    static func median(of values: [Double]) -> Double? {
        guard !values.isEmpty else { return nil }
        let sorted = values.sorted()
        let middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }
}
