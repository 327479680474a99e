// Holds the reader to the public JSON parsing suite.

import Foundation
import JSONCodec
import TestSupport
import Testing

@Suite(.enabled(if: ParsingSuite.isPresent)) struct `JSON parsing suite` {
    @Test func `every file is read or refused as the first letter of its name says`() throws {
        let files = try ParsingSuite.files()
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

    @Test func `a text is read or refused alike in the midst of another`() throws {
        for file in try ParsingSuite.files() {
            let text = try Data(contentsOf: file)
            let accepted = accepts(text)
            for (before, after) in [
                ("[", #","what comes behind it"]"#), (#"[1,"two",[3],"#, "]             "),
                (#"{"a":"#, #","b":{"c":"what comes behind it"}}"#), (#"{"a":[{}],"b":"#, "}             "),
            ] {
                let whole = Data(before.utf8) + text + Data(after.utf8)
                #expect(accepts(whole) == accepted, "\(before) \(file.lastPathComponent) \(after)")
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
}
