// Finds the end of a value that may not be decoded but is JSON in its outline, so that what stands behind it can be read.

extension JSONReader {
    /// Moves behind the value at the cursor and returns its range, however deep it is nested and even if half of a surrogate
    /// pair stands in a string. All else that is wrong is thrown. The value is not to be decoded.
    package mutating func skipFlawedValue() throws(JSONError) -> Range<Int> {
        let (limit, outside) = (maximumDepth, depth)
        maximumDepth = .max
        passesLoneSurrogates = true
        defer {
            maximumDepth = limit
            passesLoneSurrogates = false
        }
        var kind = try peek()
        let start = position
        var objects = AnyNumberOfContainers()
        while true {
            switch kind {
            case .object: try enterObject()
            case .array: try enterArray()
            default: try skipScalar(kind)
            }
            if kind == .object || kind == .array { objects[depth &- outside] = kind == .object }
            // Close what ends here, and stop at the next value.
            while depth > outside {
                let hasMore = try objects[depth &- outside] ? nextMember() != nil : nextElement()
                if hasMore { break }
            }
            if depth == outside { return start..<position }
            kind = try peek()
        }
    }
}

/// Which of the open containers are objects, one bit for each, for as many as a text can open.
private struct AnyNumberOfContainers {
    private var words: [UInt64] = []

    subscript(level: Int) -> Bool {
        get { words[level &>> 6] &>> UInt64(level & 63) & 1 == 1 }
        set {
            let word = level &>> 6
            if word == words.count { words.append(0) }
            let mask: UInt64 = 1 &<< UInt64(level & 63)
            if newValue { words[word] |= mask } else { words[word] &= ~mask }
        }
    }
}
