// A natural form written aside, from which a type of Foundation's makes itself with its own `init(from:)`.

final class OutputMemory {
    var buffer = OutputBuffer(capacity: 256)

    deinit { buffer.deallocate() }

    func decodeNaturally<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let bytes = UnsafeRawBufferPointer(start: buffer.base, count: buffer.count)
        let state = DecodingState.take(JSONReader(bytes))
        defer { state.giveBack() }
        return try state.decodeNaturally(type, in: nil, .none)
    }
}
