// Describes in one line for people what failed: a system call, or the setup of a program.

import CSystem
import RPCWire

package struct SystemError: Error, Hashable, CustomStringConvertible {
    package let call: String
    package let code: Int32

    init(_ call: String, code: Int32) {
        self.call = call
        self.code = code
    }

    /// The failure of the call that has just been made on this thread.
    init(_ call: String) { self.init(call, code: system_errno()) }

    package var description: String {
        "\(call): \(SystemError.names[code] ?? "errno \(code)") (\(String(cString: strerror(code)))\(limit))"
    }

    /// The end of a channel on which this call failed. A peer that does not acknowledge in time has overrun the keepalive,
    /// which the system watches too.
    var channelEnd: ChannelEnd { code == ETIMEDOUT ? .overrun(.keepaliveTimeout, description) : .failed(description) }

    /// The limit of the process that was met, as a shell calls it.
    private var limit: String {
        switch code {
        case EMFILE: "; the limit is ulimit -n"
        case EFBIG where call == "write": "; the limit may be ulimit -f"
        default: ""
        }
    }

    /// The system has numbers and sentences for errors, but people search for the names.
    private static let names: [Int32: String] = [
        EACCES: "EACCES", EADDRINUSE: "EADDRINUSE", EADDRNOTAVAIL: "EADDRNOTAVAIL", EAFNOSUPPORT: "EAFNOSUPPORT",
        EAGAIN: "EAGAIN", EBADF: "EBADF", ECONNABORTED: "ECONNABORTED", ECONNREFUSED: "ECONNREFUSED",
        ECONNRESET: "ECONNRESET", EEXIST: "EEXIST", EFBIG: "EFBIG", EHOSTDOWN: "EHOSTDOWN",
        EHOSTUNREACH: "EHOSTUNREACH",
        EINTR: "EINTR", EINVAL: "EINVAL", EIO: "EIO", EISCONN: "EISCONN", EISDIR: "EISDIR", ELOOP: "ELOOP",
        EMFILE: "EMFILE", EMSGSIZE: "EMSGSIZE", ENAMETOOLONG: "ENAMETOOLONG", ENETDOWN: "ENETDOWN",
        ENETRESET: "ENETRESET", ENETUNREACH: "ENETUNREACH", ENFILE: "ENFILE", ENOBUFS: "ENOBUFS", ENOENT: "ENOENT",
        ENOMEM: "ENOMEM", ENOSPC: "ENOSPC", ENOTCONN: "ENOTCONN", ENOTDIR: "ENOTDIR", ENOTSOCK: "ENOTSOCK",
        EPERM: "EPERM", EPIPE: "EPIPE", EPROTO: "EPROTO", EPROTOTYPE: "EPROTOTYPE", EROFS: "EROFS",
        ETIMEDOUT: "ETIMEDOUT",
    ]
}

/// An address, a name, a socket or a file that cannot be used, as one line for people.
package struct SetupError: Error, Hashable, CustomStringConvertible {
    package let description: String
    init(_ description: String) { self.description = description }
}
