// What is fuzzed of the whole JSON codec, under the name of its corpus.

let targets: [String: @Sendable (UnsafeRawBufferPointer) -> Void] = ["json-decoder": fuzzDecoder]
