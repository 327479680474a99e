// What is fuzzed of the JSON codec's reading half by itself, under the name of its corpus.

let targets: [String: @Sendable (UnsafeRawBufferPointer) -> Void] = ["json-reader": fuzzReader]
