import Foundation
import RPCWire
import Testing

@testable import RPCSockets

struct PrivateFileTests {
    private let path = "/tmp/rpc-private-\(UInt64.random(in: 0 ..< .max))"

    private func write(_ bytes: [UInt8], mode: Int) throws {
        try #require(FileManager.default.createFile(atPath: path, contents: Data(bytes)))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    @Test(arguments: [0o600, 0o400])
    func `a file that only its owner may read is read whole`(mode: Int) throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let text = String(repeating: "ä line\n", count: 2_000)
        try write(Array(text.utf8), mode: mode)
        #expect(try PrivateFile.read(path) == text)
    }

    @Test(arguments: [0o640, 0o604, 0o620, 0o601])
    func `a file that others may have to do with is refused, with the cure`(mode: Int) throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        try write(Array("secret".utf8), mode: mode)
        let error = #expect(throws: SetupError.self) { try PrivateFile.read(path) }
        let octal = String(mode, radix: 8)
        #expect(
            error?.description == "can be read by others (mode \(octal)); take that away with: chmod 600 \(path)")
    }

    @Test func `what is no text in a plain file of a sensible size is refused`() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(throws: SetupError("cannot be opened: open: ENOENT (No such file or directory)")) {
            try PrivateFile.read(path)
        }
        #expect(throws: SetupError("is not a plain file")) { try PrivateFile.read("/dev/null") }
        #expect(throws: SetupError("is not a plain file")) { try PrivateFile.read("/tmp") }
        try write([0xC3, 0x28], mode: 0o600)
        #expect(throws: SetupError("is not UTF-8")) { try PrivateFile.read(path) }
        try write([UInt8](repeating: 0x41, count: 1 << 20 + 1), mode: 0o600)
        #expect(throws: SetupError("is larger than 1048576 bytes")) { try PrivateFile.read(path) }
    }
}
