// What is fuzzed of the compiler plugin, each under the name of its corpus.

let targets: [String: @Sendable (UnsafeRawBufferPointer) -> Void] = ["macro": fuzzMacro]
