// What `@available` on a requirement means for its entry in the method table.

/// One `@available` attribute.
struct Availability {
    /// The condition under which the requirement exists, as `#available` takes it; nil when it always does.
    private(set) var condition: String?
    private(set) var isDeprecated = false
    /// Says something that a method table cannot follow, such as `unavailable`.
    private(set) var isUnsupported = false

    /// - Parameter arguments: With their parentheses, as spelled.
    init(_ arguments: String) {
        var cursor = TokenCursor(arguments)
        _ = cursor.take("(")
        let start = cursor.index
        var isShort = true
        while !cursor.isAtEnd, cursor.following.kind != .end {
            switch cursor.current.text {
            case "deprecated": isDeprecated = true
            case "unavailable", "introduced", "obsoleted", "noasync": isUnsupported = true
            case "swift", "_PackageDescription": isShort = false
            default: break
            }
            if cursor.isAt(":") { isShort = false }
            cursor.advance()
        }
        if isShort, !isDeprecated, !isUnsupported { condition = cursor.spelling(since: start) }
    }
}
