// Stands in for the package swift-distributed-tracing: the part of its interface that the article "Logs, metrics and traces" uses,
// with a tracer that numbers its spans.

import Synchronization

package struct ServiceContext: Sendable {
    @TaskLocal package static var current: ServiceContext?
    package static let topLevel = ServiceContext()

    /// Only here: the numbers of the spans around, the outermost first.
    var spans: [Int] = []
}

package enum SpanKind: String, Sendable { case server, client, producer, consumer, `internal` }

package protocol Span: Sendable {
    var context: ServiceContext { get }
}

private struct NumberedSpan: Span {
    let context: ServiceContext
}

package protocol Injector<Carrier>: Sendable {
    associatedtype Carrier
    func inject(_ value: String, forKey key: String, into carrier: inout Carrier)
}

package protocol Extractor<Carrier>: Sendable {
    associatedtype Carrier
    func extract(key: String, from carrier: Carrier) -> String?
}

package protocol Instrument: Sendable {
    func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract)
    where Extract.Carrier == Carrier
    func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject)
    where Inject.Carrier == Carrier
}

private struct TraceparentInstrument: Instrument {
    func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
    )
    where Extract.Carrier == Carrier {
        guard let text = extractor.extract(key: "traceparent", from: carrier) else { return }
        context.spans = text.split(separator: "-").compactMap { Int($0) }
    }

    func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
    )
    where Inject.Carrier == Carrier {
        injector.inject(context.spans.map(String.init).joined(separator: "-"), forKey: "traceparent", into: &carrier)
    }
}

package enum InstrumentationSystem {
    package static var instrument: any Instrument { TraceparentInstrument() }
}

private let ended = Mutex<[String]>([])
private let lastSpan = Atomic(0)

/// Only here: the spans that have ended, in that order.
package var endedSpans: [String] { ended.withLock { $0 } }

package func withSpan<Result>(
    _ operationName: String, context: @autoclosure () -> ServiceContext = .current ?? .topLevel,
    ofKind kind: SpanKind = .internal, function: String = #function, file fileID: String = #fileID, line: UInt = #line,
    isolation: isolated (any Actor)? = #isolation, _ operation: (any Span) async throws -> Result
) async rethrows -> Result {
    var inner = context()
    inner.spans.append(lastSpan.add(1, ordering: .relaxed).newValue)
    let place = inner.spans.map(String.init).joined(separator: "-")
    defer { ended.withLock { $0.append("\(kind.rawValue) \(operationName) \(place)") } }
    return try await ServiceContext.$current.withValue(inner) { try await operation(NumberedSpan(context: inner)) }
}
