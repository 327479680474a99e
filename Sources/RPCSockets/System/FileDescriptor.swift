// An open descriptor that is closed with its last reference; and the reading of files with secrets.

import CSystem

final class FileDescriptor: Sendable {
    let number: Int32

    /// Takes over an open descriptor.
    init(_ number: Int32) { self.number = number }

    /// Opens a file.
    /// - Parameter flags: as `open` takes them.
    convenience init(_ path: String, _ flags: Int32) throws(SystemError) {
        self.init(try SystemCall.make("open") { system_open_file(path, flags) })
    }

    /// Copies an open descriptor to a number above those of the standard streams. The copy is closed on exec.
    convenience init(copying other: Int32) throws(SystemError) {
        self.init(try SystemCall.make("fcntl") { system_duplicate(other) })
    }

    deinit { close(number) }

    func copy() throws(SystemError) -> FileDescriptor {
        try withExtendedLifetime(self) { () throws(SystemError) in try FileDescriptor(copying: number) }
    }

    /// Reads all bytes from the present position to the end. Throws EFBIG if there are more than the limit.
    func readToEnd(atMost limit: Int) throws(SystemError) -> [UInt8] {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = try SystemCall.make("read") { read(number, &piece, piece.count) }
            guard count > 0 else { return bytes }
            guard bytes.count + count <= limit else { throw SystemError("read", code: EFBIG) }
            bytes.append(contentsOf: piece[..<count])
        }
    }

    /// Writes all bytes or throws. Throws EFBIG beyond a limit on the size of files.
    func write(_ bytes: [UInt8]) throws(SystemError) {
        var written = 0
        while written < bytes.count {
            let (start, count) = (written, bytes.count - written)
            written += try SystemCall.make("write") {
                bytes.withUnsafeBytes { system_write_file(number, $0.baseAddress.map { $0 + start }, count) }
            }
        }
    }

    /// Reads what has come, and waits for it whether or not the descriptor does.
    /// - Returns: how many bytes were read; 0 at the end, and below after an error.
    func readPatiently(_ window: UnsafeMutableRawBufferPointer) -> Int {
        SystemCall.patiently(number, POLLIN) { read(number, window.baseAddress, window.count) }
    }

    /// Writes all bytes, and waits for room whether or not the descriptor does. Returns false if that fails.
    func writePatiently(_ bytes: UnsafeRawBufferPointer) -> Bool {
        SystemCall.patiently(number, sendingAll: bytes) { rest in
            system_write_file(number, rest.baseAddress, rest.count)
        }
    }

    /// Returns when the written bytes would survive a loss of power.
    func synchronize() throws(SystemError) {
        try SystemCall.make("fsync") { system_synchronize(number) }
    }

    /// The kind and the access rights of the open file. The path may lead to another file by now.
    var mode: mode_t {
        var status = stat()
        return fstat(number, &status) == 0 ? status.st_mode : 0
    }

    /// Whether this is a file with contents, and not a folder, a pipe or a device.
    var isRegular: Bool { mode & mode_t(S_IFMT) == mode_t(S_IFREG) }
}

/// Reads a file with secrets. Refuses it if other users than its owner have any access.
package enum PrivateFile {
    /// No program has more secrets than this, so a larger file is the wrong file.
    private static let largest = 1 << 20

    /// - Throws: the end of a sentence that begins with the name of the file.
    /// - Parameter rights: the access rights that others must not have.
    @discardableResult
    static func open(_ path: String, without rights: mode_t = 0o077) throws(SetupError) -> FileDescriptor {
        let file: FileDescriptor
        do throws(SystemError) {
            // Opening never waits: otherwise a pipe with this name would keep the program from starting.
            file = try FileDescriptor(path, O_RDONLY)
        } catch {
            throw SetupError("cannot be opened: \(error)")
        }
        guard file.isRegular else { throw SetupError("is not a plain file") }
        guard file.mode & rights == 0 else {
            let mode = String(file.mode & 0o777, radix: 8)
            throw SetupError("can be read by others (mode \(mode)); take that away with: chmod 600 \(path)")
        }
        return file
    }

    /// - Throws: the end of a sentence that begins with the name of the file.
    package static func read(_ path: String) throws(SetupError) -> String {
        let file = try open(path)
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try file.readToEnd(atMost: largest)
        } catch {
            throw SetupError(
                error.code == EFBIG ? "is larger than \(largest) bytes" : "cannot be read: \(error)")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw SetupError("is not UTF-8") }
        return text
    }
}
