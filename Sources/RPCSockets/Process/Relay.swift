// Copies bytes between two descriptors and a socket, both ways, on two threads. The descriptors may be pipes, files, terminals or
// sockets that other programs share. So they are left as they are, and the threads wait in the system's calls.

import CSystem
import RPCWire

/// A copy in progress. The end of the input is passed on to the socket, and the end of the socket to the output.
final class Relay: Sendable {
    private static let windowSize = 65_536

    /// Counts when all of the socket's bytes have been written, or cannot be.
    let isOutputOver = Latch()

    /// Begins to copy. The input is read to its end even if the output is over.
    init(from input: FileDescriptor, to output: FileDescriptor, _ socket: Socket) throws(SystemError) {
        try SystemThread.start(name: "rpc-out") { [self] in
            Self.copyOut(socket, output)
            isOutputOver.count()
        }
        do throws(SystemError) {
            try SystemThread.start(name: "rpc-in") { Self.copyIn(input, socket) }
        } catch {
            socket.shutdownBoth()
            throw error
        }
    }

    private static func copyIn(_ input: FileDescriptor, _ socket: Socket) {
        withWindow { window in
            while true {
                let count = input.readPatiently(window)
                guard count > 0, socket.sendPatiently(UnsafeRawBufferPointer(rebasing: window[..<count])) else { break }
            }
        }
        socket.shutdownSending()
    }

    private static func copyOut(_ socket: Socket, _ output: FileDescriptor) {
        // The system ends a process that writes to a pipe without a reader, unless the thread has this blocked.
        system_block_broken_pipes()
        withWindow { window in
            while true {
                let count = socket.receivePatiently(window)
                guard count > 0, output.writePatiently(UnsafeRawBufferPointer(rebasing: window[..<count])) else {
                    break
                }
            }
        }
        // An end that has nothing more to say, or is not heard, is asked nothing more.
        socket.shutdownBoth()
        // Of a socket, which may have other descriptors. It does nothing to a pipe, which ends with its descriptor.
        _ = shutdown(output.number, Int32(SHUT_WR))
    }

    private static func withWindow(_ body: (UnsafeMutableRawBufferPointer) -> Void) {
        let window = UnsafeMutableRawBufferPointer.allocate(byteCount: windowSize, alignment: 16)
        defer { window.deallocate() }
        body(window)
    }
}

extension Socket {
    fileprivate func receivePatiently(_ window: UnsafeMutableRawBufferPointer) -> Int {
        SystemCall.patiently(descriptor, POLLIN) { recv(descriptor, window.baseAddress, window.count, 0) }
    }

    fileprivate func sendPatiently(_ bytes: UnsafeRawBufferPointer) -> Bool {
        SystemCall.patiently(descriptor, sendingAll: bytes) { rest in
            system_send(descriptor, rest.baseAddress, rest.count, nil, 0)
        }
    }

    fileprivate func shutdownBoth() { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }
}
