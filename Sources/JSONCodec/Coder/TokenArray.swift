// Receives a cursor at an array of tokens and reads it in one go, without a frame. Whatever there is to explain about a
// text is left to a frame: then the cursor stays where it is.

extension JSONReader {
    /// The array at the cursor. Nil, with the cursor unmoved, if it is anything but an array of such tokens.
    ///
    /// Inlined, so that whoever names a type of token has code of its own for it.
    @inline(__always)
    mutating func tokenArray<Token: JSONPrimitive>(of type: Token.Type) -> [Token]? {
        let start = position
        do throws(JSONError) {
            if let tokens = try tokens(type) { return tokens }
        } catch {}
        position = start
        return nil
    }

    @inline(__always)
    private mutating func tokens<Token: JSONPrimitive>(_ type: Token.Type) throws(JSONError) -> [Token]? {
        guard depth < maximumDepth, try nextByte() == UInt8(ascii: "[") else { return nil }
        position &+= 1
        if try nextByte() == UInt8(ascii: "]") {
            position &+= 1
            return []
        }
        // Most arrays are short, and find their memory in one piece.
        var tokens: [Token] = []
        tokens.reserveCapacity(8)
        while true {
            guard let token = try Token.read(&self) else { return nil }
            tokens.append(consume token)
            let byte = try nextByte()
            position &+= 1
            if byte == UInt8(ascii: "]") { return tokens }
            guard byte == UInt8(ascii: ",") else { return nil }
        }
    }
}
