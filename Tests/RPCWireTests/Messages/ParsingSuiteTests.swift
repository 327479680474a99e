import Foundation
import RPCWire
import Testing

/// The public parser suite beside the repository: y_ must parse, n_ must not, i_ either.
struct MessageParsingSuiteTests {
    static let suite = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../../shared/data/json-parsing")
        .standardizedFileURL

    static func files(_ prefix: String) throws -> [URL] {
        try FileManager.default.contentsOfDirectory(at: suite, includingPropertiesForKeys: nil)
            .filter { $0.lastPathComponent.hasPrefix(prefix) && $0.pathExtension == "json" }
    }

    static var isPresent: Bool { FileManager.default.fileExists(atPath: suite.path) }

    static func frame(_ data: Data, before: String = "", after: String = "") -> Bytes {
        bytes(Array(before.utf8) + data + Array(after.utf8))
    }

    static let before = #"{"jsonrpc":"2.0","method":"m","params":["#

    @Test(.enabled(if: isPresent)) func `what must not parse is refused, alone and as a parameter`() throws {
        let files = try Self.files("n_")
        #expect(files.count > 180)
        for file in files {
            let data = try Data(contentsOf: file)
            #expect(summary(Self.frame(data)) == ["refused -32700"], "\(file.lastPathComponent)")
            let inside = summary(Self.frame(data, before: Self.before, after: #"],"id":1}"#))
            #expect(
                inside == ["refused -32700"] || Self.completed.contains(file.lastPathComponent),
                "\(file.lastPathComponent)")
        }
    }

    /// No value at all is no JSON, but may stand inside an array.
    static let completed: Set = ["n_structure_no_data.json", "n_single_space.json"]

    @Test(.enabled(if: isPresent)) func `what must parse is accepted as a parameter and never refused alone`() throws {
        let files = try Self.files("y_")
        #expect(files.count > 90)
        for file in files {
            let data = try Data(contentsOf: file)
            let call = summary(Self.frame(data, before: Self.before, after: #"],"id":1}"#))
            #expect(call.first?.hasPrefix("call 1 m [") == true, "\(file.lastPathComponent)")
            #expect(summary(Self.frame(data)) != ["refused -32700"], "\(file.lastPathComponent)")
        }
    }

    @Test(.enabled(if: isPresent)) func `what may parse ends one way or the other`() throws {
        for file in try Self.files("i_") {
            #expect(!summary(Self.frame(try Data(contentsOf: file))).isEmpty)
        }
    }
}
