// A file with secrets: a path in, its text out, unless others than its owner may read or change it.

import CSystem

package enum PrivateFile {
    /// Nobody has this many secrets; whatever is larger is another file.
    private static let largest = 1 << 20

    package static func read(_ path: String) throws(PrivateFileError) -> String {
        // Never waiting: a pipe under this name would keep the program from starting.
        let descriptor = system_open_file(path, O_RDONLY)
        guard descriptor >= 0 else { throw PrivateFileError("cannot be opened: \(SystemError("open"))") }
        defer { close(descriptor) }
        // Of the open file and not of the path, which may be another one by then.
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw PrivateFileError("cannot be read: \(SystemError("fstat"))") }
        guard status.st_mode & mode_t(S_IFMT) == mode_t(S_IFREG) else { throw PrivateFileError("is not a plain file") }
        guard status.st_mode & 0o077 == 0 else {
            let mode = String(status.st_mode & 0o777, radix: 8)
            throw PrivateFileError("can be read by others (mode \(mode)); take that away with: chmod 600 \(path)")
        }
        guard status.st_size <= largest else { throw PrivateFileError("is larger than \(largest) bytes") }
        return try text(of: descriptor)
    }

    private static func text(of descriptor: Int32) throws(PrivateFileError) -> String {
        var bytes: [UInt8] = []
        var window = [UInt8](repeating: 0, count: 4_096)
        while bytes.count <= largest {
            let count = CSystem.read(descriptor, &window, window.count)
            if count == 0 { break }
            if count > 0 {
                bytes += window[..<count]
            } else if system_errno() != EINTR {
                throw PrivateFileError("cannot be read: \(SystemError("read"))")
            }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw PrivateFileError("is not UTF-8") }
        return text
    }
}

/// What is wrong with a file, as the end of a sentence that begins with its name.
package struct PrivateFileError: Error, Hashable, CustomStringConvertible {
    package let description: String
    init(_ description: String) { self.description = description }
}
