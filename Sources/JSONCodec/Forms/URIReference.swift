// Splits a URI reference into its parts, and resolves it against a base URI (RFC 3986, section 5).

struct URIReference {
    private var scheme: Substring?
    private var authority: Substring?
    private var path: Substring
    private var query: Substring?
    private var fragment: Substring?

    init(_ text: String) {
        var rest = text[...]
        if let mark = rest.firstIndex(of: "#") {
            fragment = rest[rest.index(after: mark)...]
            rest = rest[..<mark]
        }
        if let mark = rest.firstIndex(of: "?") {
            query = rest[rest.index(after: mark)...]
            rest = rest[..<mark]
        }
        if let colon = rest.firstIndex(where: { ":/".contains($0) }), rest[colon] == ":", colon > rest.startIndex {
            scheme = rest[..<colon]
            rest = rest[rest.index(after: colon)...]
        }
        if rest.hasPrefix("//") {
            let start = rest.index(rest.startIndex, offsetBy: 2)
            let end = rest[start...].firstIndex(of: "/") ?? rest.endIndex
            authority = rest[start..<end]
            rest = rest[end...]
        }
        path = rest
    }

    var text: String {
        var text = scheme.map { "\($0):" } ?? ""
        if let authority { text += "//\(authority)" }
        text += path
        if let query { text += "?\(query)" }
        if let fragment { text += "#\(fragment)" }
        return text
    }

    func resolved(against base: URIReference) -> URIReference {
        var target = self
        if scheme != nil {
            target.path = Self.withoutDots(path)
            return target
        }
        target.scheme = base.scheme
        if authority != nil {
            target.path = Self.withoutDots(path)
            return target
        }
        target.authority = base.authority
        if path.isEmpty {
            target.path = base.path
            if query == nil { target.query = base.query }
        } else {
            target.path = Self.withoutDots(path.hasPrefix("/") ? path : merged(with: base))
        }
        return target
    }

    /// This relative path, resolved in the folder of the base's path.
    private func merged(with base: URIReference) -> Substring {
        if base.path.isEmpty { return base.authority == nil ? path : "/" + path }
        guard let slash = base.path.lastIndex(of: "/") else { return path }
        return base.path[...slash] + path
    }

    /// Removes dot segments (section 5.2.4): `.` names no segment, and `..` removes the last one.
    private static func withoutDots(_ path: Substring) -> Substring {
        guard path.contains(".") else { return path }
        let isRooted = path.hasPrefix("/")
        var kept: [Substring] = []
        let segments = (isRooted ? path.dropFirst() : path).split(separator: "/", omittingEmptySubsequences: false)
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            switch segment {
            case ".": if isLast { kept.append("") }
            case "..":
                if !kept.isEmpty { kept.removeLast() }
                if isLast { kept.append("") }
            default: kept.append(segment)
            }
        }
        return (isRooted ? "/" : "") + kept.joined(separator: "/")
    }

    /// The text of a URL that has written itself as an object of a relative text and a base.
    static func absoluteText(_ object: UnsafeRawBufferPointer) throws(JSONError) -> String {
        var reader = JSONReader(object)
        var relative = ""
        var base: String?
        try reader.enterObject()
        while let name = try reader.nextMember() {
            if name.matches("relative" as StaticString) {
                relative = try reader.readString()
            } else if name.matches("base" as StaticString), try reader.peek() == .string {
                base = try reader.readString()
            } else {
                _ = try reader.skipValue()
            }
        }
        guard let base else { return relative }
        return URIReference(relative).resolved(against: URIReference(base)).text
    }
}
