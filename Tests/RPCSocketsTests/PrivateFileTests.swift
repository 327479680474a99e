import CSystem
import RPCWire
import Testing

@testable import RPCSockets

struct PrivateFileTests {
    private let path = "/tmp/rpc-private-\(UInt64.random(in: 0 ..< .max))"

    private func write(_ bytes: [UInt8], mode: mode_t) throws {
        let file = try FileDescriptor(path, O_WRONLY | O_CREAT | O_TRUNC)
        try file.write(bytes)
        try #require(fchmod(file.number, mode) == 0)
    }

    @Test(arguments: [0o600, 0o400] as [mode_t])
    func `a file that only its owner may read is read whole`(mode: mode_t) throws {
        defer { unlink(path) }
        let text = String(repeating: "ä line\n", count: 2_000)
        try write(Array(text.utf8), mode: mode)
        #expect(try PrivateFile.read(path) == text)
    }

    @Test(arguments: [0o640, 0o604, 0o620, 0o601] as [mode_t])
    func `a file that others may have to do with is refused, with the cure`(mode: mode_t) throws {
        defer { unlink(path) }
        try write(Array("secret".utf8), mode: mode)
        let error = #expect(throws: SetupError.self) { try PrivateFile.read(path) }
        let octal = String(mode, radix: 8)
        #expect(
            error?.description == "can be read by others (mode \(octal)); take that away with: chmod 600 \(path)")
    }

    @Test func `what is no text in a plain file of a sensible size is refused`() throws {
        defer { unlink(path) }
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
