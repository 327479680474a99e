// The rows of tables in the articles, for tests that try what a table says.

import Foundation

enum ArticleTable {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../Sources/RemoteProxy/RemoteProxy.docc")

    /// The rows of all tables of an article that have this line as their head, each as its cells.
    static func rows(of article: String, under head: String) -> [[String]] {
        guard let text = try? String(contentsOf: folder.appending(path: "\(article).md"), encoding: .utf8) else {
            return []
        }
        var rows: [[String]] = []
        var isInside = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line == head {
                isInside = true
            } else if !line.hasPrefix("|") {
                isInside = false
            } else if isInside, !line.hasPrefix("|---") {
                rows.append(
                    line.dropFirst().dropLast().components(separatedBy: "|").map {
                        $0.trimmingCharacters(in: .whitespaces)
                    })
            }
        }
        return rows
    }
}
