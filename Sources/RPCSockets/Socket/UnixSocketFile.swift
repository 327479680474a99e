// The file by which clients find a Unix-domain listener. The file of a dead server is replaced. A living server, a file of
// another kind and a symbolic link are left alone.

import CSystem

struct UnixSocketFile {
    private static let rights: mode_t = 0o600

    private let path: String
    private let device: dev_t
    private let inode: ino_t

    /// Binds the socket to the path. Only the user of this process may connect, whatever the umask is: until the socket listens,
    /// the system refuses each connection. A umask of this process' own would change the files that other threads make meanwhile.
    static func bind(_ socket: Socket, _ address: SocketAddress, _ path: String) throws(SystemError) -> UnixSocketFile {
        if let old = status(path) {
            switch old.st_mode & mode_t(S_IFMT) {
            case mode_t(S_IFSOCK): break
            case mode_t(S_IFLNK): throw SystemError("bind", code: ELOOP)
            default: throw SystemError("bind", code: EEXIST)
            }
            guard try isDead(address) else { throw SystemError("bind", code: EADDRINUSE) }
            unlink(path)
        }
        try SystemCall.make("bind") { address.withPointer { CSystem.bind(socket.descriptor, $0, $1) } }
        guard let new = status(path) else { throw SystemError("lstat") }
        let file = UnixSocketFile(path: path, device: new.st_dev, inode: new.st_ino)
        do throws(SystemError) {
            try SystemCall.make("chmod") { chmod(path, UnixSocketFile.rights) }
        } catch {
            file.remove()
            throw error
        }
        return file
    }

    /// Removes the file if it is still the one that was made: another server may have replaced it by its own.
    func remove() {
        guard let found = UnixSocketFile.status(path), found.st_dev == device, found.st_ino == inode else { return }
        unlink(path)
    }

    private static func isDead(_ address: SocketAddress) throws(SystemError) -> Bool {
        let probe = try Socket.make(for: address)
        return address.withPointer { connect(probe.descriptor, $0, $1) } < 0 && system_errno() == ECONNREFUSED
    }

    private static func status(_ path: String) -> stat? {
        var status = stat()
        return lstat(path, &status) == 0 ? status : nil
    }
}
