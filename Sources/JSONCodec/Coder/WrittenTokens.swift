// Receives an array of tokens and writes it in one go, without a frame. Whatever there is to explain is left to a frame:
// then nothing has been written.

extension EncodingStatePointer {
    // Not generic, so that each has code of its own. False, with nothing written, if something stands against it.

    @inline(never)
    func write(strings tokens: borrowing [String], _ depth: Int) -> Bool {
        depth < EncodingState.maximumDepth && pointee.output.pointee.append(tokens: tokens)
    }

    @inline(never)
    func write(integers tokens: borrowing [Int], _ depth: Int) -> Bool {
        depth < EncodingState.maximumDepth && pointee.output.pointee.append(tokens: tokens)
    }

    @inline(never)
    func write(doubles tokens: borrowing [Double], _ depth: Int) -> Bool {
        depth < EncodingState.maximumDepth && pointee.output.pointee.append(tokens: tokens)
    }
}

extension OutputBuffer {
    /// False, with nothing written, if one of them has no text.
    @inline(__always)
    fileprivate mutating func append<Token: JSONPrimitive>(tokens: borrowing [Token]) -> Bool {
        let start = count
        append(UInt8(ascii: "["))
        let tokens = tokens.span
        for index in tokens.indices {
            if index > 0 { append(UInt8(ascii: ",")) }
            guard tokens[index].hasJSONText else {
                truncate(to: start)
                return false
            }
            tokens[index].write(to: &self)
        }
        append(UInt8(ascii: "]"))
        return true
    }
}
