// What is fuzzed of the JSON codec, each under the name of its corpus.

let targets: [String: @Sendable (UnsafeRawBufferPointer) -> Void] = [
    "json-reader": fuzzReader,
    "json-decoder": fuzzDecoder,
]
