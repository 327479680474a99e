// A detached thread with a name that shows in debuggers and in `top -H`.

import CSystem

package enum SystemThread {
    /// A number that no other living thread has, a multiple of eight.
    package static var current: UInt { system_thread_identity() }

    /// What the system calls the calling thread.
    static var systemNumber: Int32 { system_thread_number() }

    /// Whether a thread computes, or would if it had a processor; false when it sleeps or that is not known.
    static func isRunning(systemNumber: Int32) -> Bool { system_thread_is_running(systemNumber) != 0 }

    /// For how many nanoseconds a thread has computed; nil when that is not known.
    static func processorTime(systemNumber: Int32) -> Int64? {
        let time = system_thread_time(systemNumber)
        return time < 0 ? nil : time
    }

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
