// The way from libFuzzer to the targets: bytes in, nothing out, a trap for a finding. Built by `.ci/fuzz` and not by the
// package: a program for each folder, with the modules that its targets need and no others, since libFuzzer looks at every
// counter of a program after every run. FUZZ_TARGET says which target is meant.

import Glibc

/// What one run may take, whatever else the machine does meanwhile.
private let mostProcessorSeconds = 5.0

private let target: @Sendable (UnsafeRawBufferPointer) -> Void = {
    let name = getenv("FUZZ_TARGET").map { String(cString: $0) } ?? ""
    guard let target = targets[name] else { fatalError("FUZZ_TARGET is one of \(targets.keys.sorted())") }
    return target
}()

/// What libFuzzer calls.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    let input = UnsafeRawBufferPointer(start: data, count: size)
    if seconds(CLOCK_MONOTONIC, { target(input) }) > mostProcessorSeconds {
        // What others did meanwhile does not count. To ask for the thread's own time takes the system longer than most
        // runs are, so only a run that was long by the clock is done again for it.
        let took = seconds(CLOCK_THREAD_CPUTIME_ID) { target(input) }
        require(took < mostProcessorSeconds, "\(size) bytes took \(took) s of processor time")
    }
    return 0
}

private func seconds(_ clock: clockid_t, _ run: () -> Void) -> Double {
    var (start, end) = (timespec(), timespec())
    clock_gettime(clock, &start)
    run()
    clock_gettime(clock, &end)
    return Double(end.tv_sec - start.tv_sec) + Double(end.tv_nsec - start.tv_nsec) / 1e9
}

/// A finding: two ways to the same answer that differ.
func require(_ isTrue: Bool, _ what: @autoclosure () -> String) {
    if !isTrue { fatalError(what()) }
}

/// Small numbers out of the input, for what is random and still to be reproduced.
struct Dice {
    private var rest: UnsafeRawBufferPointer.SubSequence

    init(_ bytes: UnsafeRawBufferPointer) { rest = bytes[...] }

    var isEmpty: Bool { rest.isEmpty }
    /// 0 when there is nothing left.
    mutating func roll() -> Int { Int(rest.popFirst() ?? 0) }
    mutating func roll(_ sides: Int) -> Int { roll() % sides }
}
