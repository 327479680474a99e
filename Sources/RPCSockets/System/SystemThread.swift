// A detached thread with a name that shows in debuggers and in `top -H`.

import CSystem

package enum SystemThread {
    /// A number that no other living thread has, a multiple of eight.
    package static var current: UInt { system_thread_identity() }

    /// How many processors the calling thread may run on.
    static var processors: Int { Int(system_processors()) }

    package static func start(name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
        let context = Unmanaged.passRetained(ThreadBody(body)).toOpaque()
        let code = system_start_thread(
            name, { context in Unmanaged<ThreadBody>.fromOpaque(context!).takeRetainedValue().run() }, context)
        guard code == 0 else {
            Unmanaged<ThreadBody>.fromOpaque(context).release()
            throw SystemError("pthread_create", code: code)
        }
    }

    private final class ThreadBody: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }
}
