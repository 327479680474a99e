// A file that is always replaced as a whole: a reader gets the old contents or the new, even if a writer is interrupted. A lock
// file makes the writers of all processes take turns. All members block.

import CSystem
import RPCWire

package struct ReplaceableFile: Sendable {
    package let path: String

    package init(_ path: String) { self.path = path }

    /// Returns the contents, or nil if there is no such file. Throws if it is not an ordinary file, and leaves that alone.
    package func read(atMost limit: Int) throws(SystemError) -> [UInt8]? {
        let file: FileDescriptor
        do {
            file = try FileDescriptor(path, O_RDONLY)
        } catch {
            if error.code == ENOENT { return nil }
            throw error
        }
        guard file.isRegular else { throw SystemError("open", code: EINVAL) }
        return try file.readToEnd(atMost: limit)
    }

    /// Replaces the contents. If it throws, the old contents are still there. Must be called in `locked`: all writers use the
    /// same name for the unfinished file, so that a crash leaves at most one such file.
    package func replace(with contents: [UInt8]) throws(SystemError) {
        let unfinished = path + ".new"
        unlink(unfinished)
        do {
            let file = try FileDescriptor(unfinished, O_WRONLY | O_CREAT | O_EXCL)
            try file.write(contents)
            try file.synchronize()
            try SystemCall.make("rename") { rename(unfinished, path) }
        } catch {
            unlink(unfinished)
            throw error
        }
        // The rename is durable only when the folder is synchronised. Not all file systems can do that; the contents are safe
        // even then.
        try? FileDescriptor(folder, O_RDONLY).synchronize()
    }

    /// Writes a text into the file in place, in one step. Needs no lock if all texts of the file have the same length.
    package func overwrite(with text: [UInt8]) throws(SystemError) {
        try FileDescriptor(path, O_WRONLY | O_CREAT).write(text)
    }

    /// Renames the file. Replaces a file that has the other name.
    package func setAside(as other: String) throws(SystemError) {
        try SystemCall.make("rename") { rename(path, other) }
    }

    /// Removes the file, its lock file and its unfinished copy.
    package func remove() {
        for suffix in ["", ".new", ".lock"] { unlink(path + suffix) }
    }

    /// Runs the body while no other writer is at work. Throws EWOULDBLOCK if others work for longer than `patience`.
    package func locked<Result>(
        patience: Duration, _ body: () throws(SystemError) -> Result
    ) throws(SystemError) -> Result {
        // An empty path would make a lock file named `.lock`.
        if path.isEmpty { throw SystemError("open", code: ENOENT) }
        let lock = try FileDescriptor(path + ".lock", O_RDWR | O_CREAT)
        let deadline = MonotonicClock.now.advanced(by: patience)
        while system_lock_file(lock.number) < 0 {
            let code = system_errno()
            guard code == EWOULDBLOCK || code == EINTR, MonotonicClock.now < deadline else {
                throw SystemError("flock", code: code)
            }
            poll(nil, 0, 10)
        }
        return try withExtendedLifetime(lock, body)
    }

    private var folder: String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}
