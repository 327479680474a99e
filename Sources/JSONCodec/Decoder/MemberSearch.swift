// Moves the reader to the value of the member with a given name. In the usual order each member is behind the last one. In any
// other order the object is read ahead, and the skipped members are noted.

extension DecodingFramePointer {
    /// Moves to the next member and notes its name. Returns false behind the last member.
    func advance(remembering: Bool) throws -> Bool {
        if pointee.end != nil { return false }
        let state = pointee.state
        state.seek(pointee.cursor, depth: pointee.depth &+ 1)
        if pointee.isAtValue {
            try state.skipValue(remembering: remembering)
            pointee.isAtValue = false
            pointee.cursor = state.pointee.reader.position
        }
        state.pointee.reader.isFirst = pointee.isFirst
        guard let key = try state.read({ reader throws(JSONError) in try reader.nextMember() }) else {
            pointee.end = state.pointee.reader.position
            return false
        }
        let (name, length) = try state.place(of: key, in: self)
        note(name, length, markOfName(key.base + name, length), isKnown: false)
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
        if pointee.members.append(member, in: state.pointee.reader.base) { state.pointee.sawDuplicate = true }
    }

    /// Moves the reader to the value of this member and returns its place; nil if the object has no such member.
    ///
    /// Members that are asked for in order are found one after the other. In any other order the object is read ahead as far
    /// as needed, each part of it once. Of duplicates the one found may not be the last. That is noticed when the object is
    /// complete, and the document is then decoded again in careful mode.
    @inline(never)
    func find(_ name: String) throws -> Int? {
        if let place = findKnown(name) { return place }
        return try findOther(name)
    }

    /// The usual case: the member asked for is the next one, as it was the last time.
    @inline(__always)
    private func findKnown(_ name: String) -> Int? {
        let number = pointee.nextName
        guard !pointee.isAtValue, let known = pointee.kept.names.pointee[number], known.pointee.isShort(name)
        else { return nil }
        let state = pointee.state
        guard let quote = nextName(from: pointee.cursor), known.pointee.stands(at: quote, in: state.pointee.reader)
        else { return nil }
        let count = known.pointee.count
        state.seek(quote &+ count, depth: pointee.depth &+ 1)
        pointee.found = pointee.members.count
        pointee.nextName = number &+ 1
        note(quote &+ 1, count &- 3, known.pointee.mark, isKnown: true)
        return pointee.cursor
    }

    /// Where the next name starts: behind a comma and at most one blank.
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
        var copy = name
        let found = try copy.withUTF8 { try self.number(of: $0) }
        guard let found else { return nil }
        pointee.found = found
        let place = pointee.members[found].place
        pointee.state.seek(place, depth: pointee.depth &+ 1)
        if found == number, pointee.members.count == number &+ 1 { remember(name, found) }
        return place
    }

    /// Notes the name of a member, so that it is expected next at the same place of the next value.
    @inline(never)
    private func remember(_ name: String, _ number: Int) {
        let member = pointee.members[number]
        // Only for a name that is written in the usual way: without escapes, and with the value right behind it.
        guard member.name &+ member.length &+ 2 == member.place else { return }
        let start = pointee.state.pointee.reader.base + member.name - 1
        let text = UnsafeBufferPointer(start: start, count: member.length + 3)
        guard let number = pointee.kept.names.pointee.number(of: name, text, mark: member.mark) else { return }
        pointee.nextName = number &+ 1
    }

    @inline(__always)
    private func number(of name: UnsafeBufferPointer<UInt8>) throws -> Int? {
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

    /// Notes that the value at this place has been read up to the reader's position.
    @inline(__always)
    func passed(_ place: Int) {
        guard pointee.isAtValue, pointee.cursor == place else { return }
        pointee.cursor = pointee.state.pointee.reader.position
        pointee.isAtValue = false
    }
}
