// Stands in for the package swift-metrics: the part of its interface that the article "Logs, metrics and traces" uses.

import Synchronization

private let values = Mutex<[String: Int64]>([:])

/// Only here: what was recorded last under each label, and the sum of what was added to it.
package var recorded: [String: Int64] { values.withLock { $0 } }

private func record(_ label: String, _ dimensions: [(String, String)], _ value: Int64) {
    let name = dimensions.reduce(label) { "\($0) \($1.0)=\($1.1)" }
    values.withLock { $0[name] = value }
}

package final class Counter {
    private let name: String

    package init(label: String, dimensions: [(String, String)] = []) {
        name = "counter " + dimensions.reduce(label) { "\($0) \($1.0)=\($1.1)" }
    }

    package func increment<DataType: BinaryInteger>(by amount: DataType) {
        values.withLock { $0[name, default: 0] += Int64(amount) }
    }
}

package final class Gauge {
    private let label: String
    private let dimensions: [(String, String)]

    package init(label: String, dimensions: [(String, String)] = []) {
        (self.label, self.dimensions) = (label, dimensions)
    }

    package func record<DataType: BinaryInteger>(_ value: DataType) { Metrics.record(label, dimensions, Int64(value)) }
}

package final class Timer {
    private let label: String
    private let dimensions: [(String, String)]

    package init(label: String, dimensions: [(String, String)] = []) {
        (self.label, self.dimensions) = (label, dimensions)
    }

    package func recordNanoseconds(_ duration: Int64) { Metrics.record(label, dimensions, duration) }
}
