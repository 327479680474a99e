// What a growth is looked at for: how much gets through, and what each call takes of the processors.

enum GrowthMeasure: CaseIterable {
    /// Calls in a second or, along an axis of bytes, the bytes that go each way in a second.
    case speed
    /// Of both ends together, in microseconds.
    case processorTime

    /// Reads it from the figures of one size; those of plain sockets have the prefix `raw_`.
    func value(_ figures: Figures, prefix: String, of growth: Growth, at size: Int) -> Double? {
        switch self {
        case .speed: figures["\(prefix)calls_per_s"].map { growth.isInBytes ? $0 * Double(size) : $0 }
        case .processorTime:
            figures["\(prefix)client_cpu_us"].flatMap { client in
                figures["\(prefix)server_cpu_us"].map { client + $0 }
            }
        }
    }

    func title(of growth: Growth) -> String {
        switch self {
        case .speed: growth.isInBytes ? "bytes a second, each way" : "calls a second"
        case .processorTime: "µs of processor time a call, both ends"
        }
    }
}
