// The public JSON parsing suite, which lies beside the repository on the machines that have it. The first letter of a file's
// name says what must become of it: y must be read, n must not, and i may be either.

package import Foundation

package enum ParsingSuite {
    private static let folder = URL(filePath: #filePath)
        .appending(path: "../../../../shared/data/json-parsing").standardizedFileURL

    /// A clone by itself does without.
    package static var isPresent: Bool { FileManager.default.fileExists(atPath: folder.path) }

    package static func files() throws -> [URL] {
        try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "json" }
    }

    package static func files(_ letter: Character) throws -> [URL] {
        try files().filter { $0.lastPathComponent.first == letter }
    }
}
