// Holds the reader to the public JSON parsing suite that lies beside the repository: the first letter of a file's name
// says what must become of it.

import Foundation
import JSONCodec
import Testing

@Suite struct `JSON parsing suite` {
    @Test func `every file is read or refused as the first letter of its name says`() throws {
        let files = try suiteFiles()
        #expect(files.count > 300)
        for file in files {
            let accepted = accepts(try Data(contentsOf: file))
            switch file.lastPathComponent.first {
            case "y": #expect(accepted, "\(file.lastPathComponent)")
            case "n": #expect(!accepted, "\(file.lastPathComponent)")
            default: break
            }
        }
    }

    private func accepts(_ data: Data) -> Bool {
        data.withUnsafeBytes { bytes in
            var reader = JSONReader(bytes)
            do {
                _ = try reader.skipValue()
                try reader.finish()
                return true
            } catch {
                return false
            }
        }
    }

    private func suiteFiles() throws -> [URL] {
        var root = URL(filePath: #filePath)
        while !FileManager.default.fileExists(atPath: root.appending(path: "Package.swift").path) {
            root.deleteLastPathComponent()
        }
        let folder = root.deletingLastPathComponent().appending(path: "shared/data/json-parsing")
        return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "json" }
    }
}
