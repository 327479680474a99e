// A place on the disk for a test.

#if canImport(Glibc)
    import Glibc
#else
    import Foundation
#endif

/// A folder for one test, removed after it. Its path is short enough for sockets.
package final class TemporaryFolder: Sendable {
    package let path: String

    package init() {
        var name = Array("/tmp/rpc-test-XXXXXX".utf8CString)
        mkdtemp(&name)
        path = name.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
    }

    deinit { remove() }

    /// For a folder that is never let go.
    package func remove() {
        guard path.hasPrefix("/tmp/rpc-test-"), let folder = opendir(path) else { return }
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            unlink("\(path)/\(name)")
        }
        closedir(folder)
        rmdir(path)
        // Of a test that took the folder itself for its file.
        unlink(path + ".lock")
    }
}
