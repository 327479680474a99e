// Lines of Swift, indented as they nest.

/// The shapes that generated source is put together from.
enum SourceLines {
    /// A head, its body one step further in, and the closing brace. Only the first line of an element that has several
    /// is moved: the others may be inside a string.
    static func block(_ head: String, _ body: [String]) -> [String] {
        [head + " {"] + body.map { $0.isEmpty ? "" : "    " + $0 } + ["}"]
    }

    /// Groups with an empty line between them; groups without lines vanish.
    static func paragraphs(_ groups: [[String]]) -> [String] {
        Array(groups.filter { !$0.isEmpty }.joined(separator: [""]))
    }
}
