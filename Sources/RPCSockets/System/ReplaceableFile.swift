// Replaces a file always as a whole: a reader gets the old contents or the new, even if a writer is interrupted. Writers of all
// processes take turns by a lock file. All members block.

import CSystem
import RPCWire

package struct ReplaceableFile: Sendable {
    package let path: String

    package init(_ path: String) { self.path = path }

    /// The contents, or nil when there is no such file. Throws if it is not an ordinary file, without touching it.
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

    /// Puts new contents in the place of the old. When it throws, the old are still there. Only under the lock:
    /// all writers use the same name for what is not finished, so that a crash leaves one such file at most.
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
        // The rename is durable when the folder is synchronised. Not every file system can do that; the contents are safe
        // without.
        try? FileDescriptor(folder, O_RDONLY).synchronize()
    }

    /// Gives the file another name, in the place of what had that name before.
    package func setAside(as other: String) throws(SystemError) {
        try SystemCall.make("rename") { rename(path, other) }
    }

    /// Removes the file with its lock file and its unfinished copy.
    package func remove() {
        for suffix in ["", ".new", ".lock"] { unlink(path + suffix) }
    }

    /// Runs the body while no other writer is at work. Throws EWOULDBLOCK when one has been for as long as `patience`.
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
