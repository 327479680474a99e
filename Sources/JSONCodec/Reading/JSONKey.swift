// The name of a member where it stands in the text. The envelope scanner and the keyed decoder compare names with
// this, and build a String only when one is asked for.

package struct JSONKey {
    let base: UnsafePointer<UInt8>
    let text: JSONText

    package func matches(_ name: StaticString) -> Bool {
        guard !text.hasEscapes else { return (try? string()) == name.description }
        return matches(UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
    }

    package func matches(_ name: String) -> Bool {
        guard !text.hasEscapes else { return (try? string()).map { Array($0.utf8) == Array(name.utf8) } ?? false }
        var name = name
        return name.withUTF8 { matches($0) }
    }

    /// Compares with the bytes of a name; only for a key without escapes.
    @inline(__always)
    func matches(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        let length = text.end &- text.start
        guard name.count == length else { return false }
        for index in 0..<length where base[text.start &+ index] != name[index] { return false }
        return true
    }

    package func string() throws(JSONError) -> String { text.string(in: base) }
}
