// Sockets that listen already when the program begins, because systemd or another supervisor has opened them for it.

import CSystem
import RPCWire

/// A listening socket from the supervisor, which keeps it open when this process ends.
package struct InheritedSocket: Sendable {
    /// The number of the first one.
    private static let first: Int32 = 3

    /// Where it listens.
    package let endpoint: SocketEndpoint
    let socket: Socket

    /// Takes the sockets that `LISTEN_FDS` counts, and removes the variables, so that no child process takes them too. None if
    /// `LISTEN_PID` names another process, and none the second time.
    /// - Throws: which descriptor was not handed over, or is no socket of a kind that is known.
    package static func takeAll() throws(SetupError) -> [InheritedSocket] {
        let (process, count) = (ProcessEnvironment.take("LISTEN_PID"), ProcessEnvironment.take("LISTEN_FDS"))
        _ = ProcessEnvironment.take("LISTEN_FDNAMES")
        guard let count, process == "\(getpid())" else { return [] }
        guard let number = Int32(count), 0...1_000 ~= number else {
            throw SetupError("LISTEN_FDS is '\(count)', and not the number of sockets that are handed over")
        }
        var sockets: [InheritedSocket] = []
        for descriptor in first..<first + number { sockets.append(try InheritedSocket(descriptor)) }
        return sockets
    }

    private init(_ descriptor: Int32) throws(SetupError) {
        // A number that is free may have become that of a descriptor of this library.
        guard system_is_inherited(descriptor) != 0 else {
            throw SetupError("descriptor \(descriptor), of LISTEN_FDS, was not handed over")
        }
        do throws(SystemError) {
            // The copy is closed on exec.
            socket = Socket(descriptor: try SystemCall.make("fcntl") { system_duplicate(descriptor) })
            try SystemCall.make("fcntl") { [socket] in system_set_waiting(socket.descriptor, 0) }
        } catch {
            throw SetupError("descriptor \(descriptor), of LISTEN_FDS, cannot be used: \(error)")
        }
        close(descriptor)
        guard let endpoint = socket.localAddress?.endpoint else {
            throw SetupError("descriptor \(descriptor), of LISTEN_FDS, is no TCP or Unix-domain socket with an address")
        }
        self.endpoint = endpoint
    }
}
