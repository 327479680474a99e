// Detached threads with names, which debuggers and `top -H` show.

import CSystem
import Synchronization

package enum SystemThread {
    /// A number that no other living thread has. It is the address of a structure: never 0, and a multiple of eight.
    package static var current: UInt { system_thread() }

    /// Whether a thread may spin for a moment before it sleeps.
    static var maySpin: Bool { system_may_spin() != 0 }

    /// The signals that each new thread lets through, one bit for each. Needed because threads inherit what is blocked, and
    /// those of Swift's own pool block everything.
    static let heardSignals = Atomic<UInt64>(0)

    /// Lets the signals of `heardSignals` through on the calling thread.
    static func hearSignals() {
        let heard = heardSignals.load(ordering: .relaxed)
        guard heard != 0 else { return }
        for number in 1..<64 where heard & 1 << UInt64(number) != 0 { system_unblock_signal(Int32(number)) }
    }

    /// Starts a detached thread.
    /// - Parameter name: cut to 15 bytes.
    package static func start(name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
        let body = Unmanaged.passRetained(ThreadBody(name, body))
        let code = system_start_thread(
            { context in
                if let context { Unmanaged<ThreadBody>.fromOpaque(context).takeRetainedValue().run() }
                return nil
            }, body.toOpaque())
        guard code == 0 else {
            body.release()
            throw SystemError("pthread_create", code: code)
        }
    }

    private final class ThreadBody: Sendable {
        private let name: String
        private let body: @Sendable () -> Void

        init(_ name: String, _ body: @escaping @Sendable () -> Void) {
            (self.name, self.body) = (String(decoding: name.utf8.prefix(15), as: UTF8.self), body)
        }

        func run() {
            system_name_thread(name)
            SystemThread.hearSignals()
            body()
        }
    }
}
