// A service whose one call may be run twice, for looking at like the probe that it leads to.

import RemoteProxy

@Service
protocol Settler: Sendable {
    @Idempotent func settle(_ number: Int, milliseconds: Int) async throws -> Int
}

struct ProbeSettler: Settler {
    let probe: RecordingProbe

    func settle(_ number: Int, milliseconds: Int) async throws -> Int {
        try await probe.wait(number, milliseconds: milliseconds)
    }
}
