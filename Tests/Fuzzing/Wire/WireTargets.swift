// What is fuzzed of what both ends share below the method, each under the name of its corpus.

let targets: [String: @Sendable (UnsafeRawBufferPointer) -> Void] = [
    "framing": fuzzFraming,
    "message": fuzzMessages,
    "session": fuzzSession,
]
