// Describes a failure in one line for people: of a system call, or of the setup of a program.

import CSystem
import RPCWire

package struct SystemError: Error, Hashable, CustomStringConvertible {
    package let call: String
    package let code: Int32

    init(_ call: String, code: Int32) {
        self.call = call
        self.code = code
    }

    /// The failure of the system call that this thread has just made.
    init(_ call: String) { self.init(call, code: system_errno()) }

    package var description: String {
        "\(call): \(SystemError.names[code] ?? "errno \(code)") (\(String(cString: strerror(code)))\(limit))"
    }

    /// Why a channel ends on which this call failed. ETIMEDOUT means that the peer did not acknowledge in time. The system
    /// watches that too, and it counts as the keepalive limit.
    var channelEnd: ChannelEnd { code == ETIMEDOUT ? .overrun(.keepaliveTimeout, description) : .failed(description) }

    /// The limit of the process that was reached, as a shell names it.
    private var limit: String {
        switch code {
        case EMFILE: "; the limit is ulimit -n"
        case EFBIG where call == "write": "; the limit may be ulimit -f"
        default: ""
        }
    }

    /// The names of errors. The system offers only numbers and sentences, but people search for the names.
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

/// An address, a name, a socket, a file or an option that cannot be used, as one line for people.
package struct SetupError: Error, Hashable, CustomStringConvertible {
    package let description: String
    /// Whether trying again is in vain until something else is changed: the name of a host does not exist.
    package let isLasting: Bool

    package init(_ description: String, isLasting: Bool = false) {
        self.description = description
        self.isLasting = isLasting
    }
}
