import Foundation
import RPCWire
import TestSupport
import Testing

/// Holds the reader of messages to the public JSON parsing suite.
@Suite(.enabled(if: ParsingSuite.isPresent)) struct MessageParsingSuiteTests {
    static func frame(_ data: Data, before: String = "", after: String = "") -> Bytes {
        bytes(Array(before.utf8) + data + Array(after.utf8))
    }

    static let before = #"{"jsonrpc":"2.0","method":"m","params":["#

    @Test func `what must not parse is refused, alone and as a parameter`() throws {
        let files = try ParsingSuite.files("n")
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

    @Test func `what must parse is accepted as a parameter and never refused alone`() throws {
        let files = try ParsingSuite.files("y")
        #expect(files.count > 90)
        for file in files {
            let data = try Data(contentsOf: file)
            let call = summary(Self.frame(data, before: Self.before, after: #"],"id":1}"#))
            #expect(call.first?.hasPrefix("call 1 m [") == true, "\(file.lastPathComponent)")
            #expect(summary(Self.frame(data)) != ["refused -32700"], "\(file.lastPathComponent)")
        }
    }

    @Test func `what may parse ends one way or the other`() throws {
        for file in try ParsingSuite.files("i") {
            #expect(!summary(Self.frame(try Data(contentsOf: file))).isEmpty)
        }
    }
}
