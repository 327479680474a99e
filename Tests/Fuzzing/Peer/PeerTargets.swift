// What is fuzzed of two ends and a connection, each under the name of its corpus.

let targets: [String: @Sendable (UnsafeRawBufferPointer) -> Void] = [
    "connection": fuzzConnection, "objects": fuzzObjects,
]
