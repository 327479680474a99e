// The command line: a name, how long, how often, and what to print.

/// What the user asks for.
struct Options: Sendable {
    static let usage = """
        usage: rpc-bench NAME [--seconds S] [--runs N] [--json] [--table] [--tls] [--plot FILE]
               rpc-bench large [TEXT]... [--seconds S] [--runs N] [--json] [--table] [--tls]
               rpc-bench growth [AXIS]... [--seconds S] [--runs N] [--json] [--plot FILE]
               rpc-bench load [SCENARIO]... [--seconds S]

        Measures one workload, or all of them, beside a raw baseline in the same run, and prints the medians of the
        runs: a line of JSON for one workload, a table and a plot for all.

        'large' measures with all kinds of text, or those that are named: \(LargeText.names).

        'growth' measures at sizes that grow, along all axes or those that are named, and prints a table and a plot.

        'load' runs scenarios of load, all or those that are named, prints a line for each, and fails when something
        was missed that has to hold on any machine.

          --seconds S   how long each run measures (default 2; of scenarios, what each needs)
          --runs N      how many runs (default 3)
          --json        print a line of JSON per workload, or size, instead of the table
          --table       print a table for one workload too, instead of the line of JSON
          --tls         over TLS, which the raw baseline is not
          --plot FILE   where the plot goes (default rpc-bench.svg, of 'growth' rpc-bench-growth.svg)
        """

    var name: String?
    /// Nil where nobody has said.
    var chosenSeconds: Double?
    var seconds: Double { chosenSeconds ?? 2 }
    /// Which of the texts, of the scenarios, or of the axes of growth; none is all.
    var parts: [String] = []
    var runs = 3
    var printsJSON = false
    var printsTable = false
    var isSealed = false
    /// Nil where nobody has said.
    var plot: String?
    var wantsHelp = false

    init(_ arguments: some Sequence<String>) throws(BenchFailure) {
        var rest = Array(arguments)[...]
        while let word = rest.popFirst() {
            switch word {
            case "--seconds": chosenSeconds = try Self.number(after: word, in: &rest, Double.init, 0.05...600)
            case "--runs": runs = try Self.number(after: word, in: &rest, { Int($0) }, 1...100)
            case "--json": printsJSON = true
            case "--table": printsTable = true
            case "--tls": isSealed = true
            case "--plot": plot = try Self.value(after: word, in: &rest)
            case "--help", "-h": wantsHelp = true
            case _ where !word.hasPrefix("-") && name == nil: name = word
            case _ where !word.hasPrefix("-") && ["load", "growth", "large"].contains(name): parts.append(word)
            default: throw BenchFailure("'\(word)' is not understood\n\n\(Self.usage)")
            }
        }
    }

    private static func value(after option: String, in rest: inout ArraySlice<String>) throws(BenchFailure) -> String {
        guard let value = rest.popFirst() else { throw BenchFailure("\(option) needs a value") }
        return value
    }

    private static func number<Number: Comparable>(
        after option: String, in rest: inout ArraySlice<String>, _ read: (String) -> Number?,
        _ range: ClosedRange<Number>
    ) throws(BenchFailure) -> Number {
        let text = try value(after: option, in: &rest)
        guard let number = read(text), range.contains(number) else {
            throw BenchFailure(
                "\(option) takes a number from \(range.lowerBound) to \(range.upperBound), not '\(text)'")
        }
        return number
    }
}
