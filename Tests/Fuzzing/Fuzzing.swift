// The way from libFuzzer to the targets: bytes in, nothing out, a trap for a finding. Built by `.ci/fuzz`, which says
// in FUZZ_TARGET which of them is meant, and not by the package.

import Glibc

/// What is fuzzed, under the name of its corpus.
private let targets: [String: @Sendable (UnsafeRawBufferPointer) -> Void] = [
    "json-reader": fuzzReader,
    "json-decoder": fuzzDecoder,
    "framing": fuzzFraming,
    "message": fuzzMessages,
    "session": fuzzSession,
    "connection": fuzzConnection,
    "macro": fuzzMacro,
]

private let target: @Sendable (UnsafeRawBufferPointer) -> Void = {
    let name = getenv("FUZZ_TARGET").map { String(cString: $0) } ?? ""
    guard let target = targets[name] else { fatalError("FUZZ_TARGET is one of \(targets.keys.sorted())") }
    return target
}()

/// What libFuzzer calls.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    target(UnsafeRawBufferPointer(start: data, count: size))
    return 0
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
