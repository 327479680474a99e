// An open file, closed with the last reference to it.

import CSystem

final class FileDescriptor: Sendable {
    let number: Int32

    /// - Parameter flags: as `open` takes them.
    init(_ path: String, _ flags: Int32) throws(SystemError) {
        number = try SystemCall.make("open") { system_open_file(path, flags) }
    }

    deinit { close(number) }

    /// All bytes from here to the end, or EFBIG.
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

    /// Writes all or throws; EFBIG beyond a limit on the size of files.
    func write(_ bytes: [UInt8]) throws(SystemError) {
        var written = 0
        while written < bytes.count {
            let (start, count) = (written, bytes.count - written)
            written += try SystemCall.make("write") {
                bytes.withUnsafeBytes { system_write_file(number, $0.baseAddress.map { $0 + start }, count) }
            }
        }
    }

    /// Returns when what was written would survive a loss of power.
    func synchronize() throws(SystemError) {
        try SystemCall.make("fsync") { fsync(number) }
    }

    /// Whether it is a file with contents, and not a folder, a pipe or a device.
    var isRegular: Bool {
        var status = stat()
        return fstat(number, &status) == 0 && status.st_mode & mode_t(S_IFMT) == mode_t(S_IFREG)
    }
}
