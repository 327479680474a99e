// The name of a member where it stands in the text. The envelope scanner and the keyed decoder compare names with
// this, and build a String only when one is asked for.

package struct JSONKey {
    let base: UnsafePointer<UInt8>
    let text: JSONText

    /// How many bytes it has as it is written.
    package var length: Int { text.end &- text.start }

    package func matches(_ name: StaticString) -> Bool {
        matches(UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
    }

    package func matches(_ name: String) -> Bool {
        var name = name
        return name.withUTF8 { matches($0) }
    }

    /// Compares with the bytes of a name.
    private func matches(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        guard !text.hasEscapes else { return matchesWithEscapes(name) }
        let length = text.end &- text.start
        guard name.count == length else { return false }
        for index in 0..<length where base[text.start &+ index] != name[index] { return false }
        return true
    }

    @inline(never)
    private func matchesWithEscapes(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        // A byte takes six characters at most. What is longer may be as long as a message, and is compared with several names.
        guard text.end &- text.start <= name.count &* 6 else { return false }
        return (try? string()).map { $0.utf8.elementsEqual(name) } ?? false
    }

    package func string() throws(JSONError) -> String { text.string(in: base) }
}
