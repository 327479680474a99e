// Receives an array of tokens and writes it in one go, without a frame. Whatever there is to explain is left to a frame:
// then nothing has been written.

extension EncodingStatePointer {
    /// Writes the array that lies at a place, if the plan was made for an array of tokens and nothing stands against it.
    @inline(__always)
    func writeTokens(at place: UnsafeRawPointer, _ plan: EncodingPlan, depth: Int) -> Bool {
        switch plan {
        case .strings: write(place.assumingMemoryBound(to: [String].self).pointee, depth)
        case .integers: write(place.assumingMemoryBound(to: [Int].self).pointee, depth)
        case .doubles: write(place.assumingMemoryBound(to: [Double].self).pointee, depth)
        case .ordinary, .direct, .foundation: false
        }
    }

    // Not generic, so that each has code of its own.

    @inline(never)
    private func write(_ tokens: borrowing [String], _ depth: Int) -> Bool {
        depth < EncodingState.maximumDepth && pointee.output.pointee.append(tokens: tokens)
    }

    @inline(never)
    private func write(_ tokens: borrowing [Int], _ depth: Int) -> Bool {
        depth < EncodingState.maximumDepth && pointee.output.pointee.append(tokens: tokens)
    }

    @inline(never)
    private func write(_ tokens: borrowing [Double], _ depth: Int) -> Bool {
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
