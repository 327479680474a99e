// Receives the name of a member and moves the reader to its value. In the usual order each member lies behind the last;
// in any other the object is read ahead, and what was passed over is noted.

extension DecodingFramePointer {
    /// Goes on to the next member and notes its name. False behind the last one.
    func advance(remembering: Bool) throws(JSONError) -> Bool {
        if pointee.end != nil { return false }
        let state = pointee.state
        state.seek(pointee.cursor, depth: pointee.depth &+ 1)
        if pointee.isAtValue {
            try state.skipValue(remembering: remembering)
            pointee.isAtValue = false
            pointee.cursor = state.pointee.reader.position
        }
        state.pointee.reader.isFirst = pointee.isFirst
        guard let key = try state.pointee.reader.nextMember() else {
            pointee.end = state.pointee.reader.position
            return false
        }
        let base = state.pointee.reader.base
        let name = key.text.hasEscapes ? state.unescapedName(key) : (key.text.start, key.text.end &- key.text.start)
        note(name.0, name.1, markOfName(base + name.0, name.1), isKnown: false)
        return true
    }

    @inline(__always)
    private func note(_ name: Int, _ length: Int, _ mark: UInt32, isKnown: Bool) {
        let state = pointee.state
        let place = state.pointee.reader.position
        pointee.isFirst = false
        pointee.isAtValue = true
        pointee.cursor = place
        let member = Member(name: name, length: length, place: place, mark: mark)
        if isKnown, pointee.members.appendKnown(member) { return }
        if pointee.members.append(member, in: state.pointee.reader.base) != nil { state.pointee.sawDuplicate = true }
    }

    /// Puts the reader at the value of this member and returns its place; nil if the object has no such member.
    ///
    /// Members asked for in their order are found one behind the other. In any other order the object is read ahead as
    /// far as it takes, each part of it once. Of duplicates the one found may not be the last: that is noticed when the
    /// object is complete, and the document is then decoded again with care.
    @inline(never)
    func find(_ name: String) throws -> Int? {
        if let place = findKnown(name) { return place }
        return try findOther(name)
    }

    /// The usual case: the member asked for is the next one, as it was the last time.
    @inline(__always)
    private func findKnown(_ name: String) -> Int? {
        let number = pointee.members.count
        guard !pointee.isAtValue, let known = pointee.known[number], known.pointee.bits == bitsOfName(name)
        else { return nil }
        let state = pointee.state
        let start = pointee.cursor
        guard let quote = nextName(from: start),
            known.pointee.stands(at: quote, in: state.pointee.reader)
        else { return nil }
        let count = known.pointee.count
        state.seek(quote &+ count, depth: pointee.depth &+ 1)
        note(quote &+ 1, count &- 3, known.pointee.mark, isKnown: true)
        pointee.found = number
        return pointee.cursor
    }

    /// Where the next name starts, behind a comma and at most one blank.
    @inline(__always)
    private func nextName(from start: Int) -> Int? {
        let reader = pointee.state.pointee.reader
        guard start &+ 2 <= reader.count else { return nil }
        if pointee.isFirst { return start }
        guard reader.base[start] == UInt8(ascii: ",") else { return nil }
        return reader.base[start &+ 1] == UInt8(ascii: " ") ? start &+ 2 : start &+ 1
    }

    @inline(never)
    private func findOther(_ name: String) throws -> Int? {
        let number = pointee.members.count
        let place = try name.utf8.withContiguousStorageIfAvailable { try find($0) } ?? findCopy(name)
        if place != nil, pointee.found == number, pointee.members.count == number &+ 1,
            number <= pointee.known.count
        {
            remember(name, number)
        }
        return place
    }

    @inline(never)
    private func remember(_ name: String, _ number: Int) {
        if let known = pointee.known[number], known.pointee.bits == bitsOfName(name) { return }
        let member = pointee.members[number]
        // Only what is written in the usual way: a name with its value right behind, and no escapes in it.
        guard member.name &+ member.length &+ 2 == member.place else { return }
        let start = pointee.state.pointee.reader.base + member.name - 1
        let text = UnsafeBufferPointer(start: start, count: member.length + 3)
        pointee.known.remember(name, at: number, text, mark: member.mark)
    }

    @inline(never)
    private func findCopy(_ name: String) throws -> Int? {
        var copy = name
        return try copy.withUTF8 { try find($0) }
    }

    @inline(__always)
    private func find(_ name: UnsafeBufferPointer<UInt8>) throws -> Int? {
        let state = pointee.state
        do throws(JSONError) {
            guard let number = try number(of: name) else { return nil }
            let place = pointee.members[number].place
            pointee.found = number
            state.seek(place, depth: pointee.depth &+ 1)
            return place
        } catch { throw state.malformed(error) }
    }

    @inline(__always)
    private func number(of name: UnsafeBufferPointer<UInt8>) throws(JSONError) -> Int? {
        let base = pointee.state.pointee.reader.base
        // In order: the member at the cursor, or the one behind it.
        if !pointee.isAtValue, try advance(remembering: true), isLast(name, base) { return pointee.members.count &- 1 }
        if pointee.isAtValue, isLast(name, base) { return pointee.members.count &- 1 }
        if let known = pointee.members.last(named: name, in: base) { return known }
        while try advance(remembering: true) {
            if isLast(name, base) { return pointee.members.count &- 1 }
        }
        return nil
    }

    @inline(__always)
    private func isLast(_ name: UnsafeBufferPointer<UInt8>, _ base: UnsafePointer<UInt8>) -> Bool {
        let member = pointee.members[pointee.members.count &- 1]
        guard member.length == name.count, let start = name.baseAddress else { return member.length == name.count }
        return equalBytes(base + member.name, start, member.length)
    }

    /// The value at this place has been read up to where the reader stands.
    @inline(__always)
    func passed(_ place: Int) {
        guard pointee.isAtValue, pointee.cursor == place else { return }
        pointee.cursor = pointee.state.pointee.reader.position
        pointee.isAtValue = false
    }
}
