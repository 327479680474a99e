// Watches for the cancellation of a task. The standard library offers this only as one async function around the code in
// question. The frame and closures of that function cost a call more than its way through the socket. So this uses the two
// halves of it, and only with a runtime that is known to have them (Package.swift).

#if KNOWN_RUNTIME && arch(x86_64) && canImport(Glibc)
    import CSystem

    /// Calls a function when the task that began the watch is cancelled. The same task must end the watch. The record is on the
    /// task's own stack, so watches must end in the reverse order of their beginning.
    ///
    /// `@unchecked Sendable`: written only by the task that begins it, before the runtime has it. Read by that task in `begin`
    /// if the task has been cancelled before, and otherwise under the runtime's lock on the task's records.
    package struct CancellationWatch: ~Copyable, @unchecked Sendable {
        /// In memory of its own, because the runtime keeps its address.
        private let cancellation: UnsafeMutablePointer<system_cancellation>

        /// - Parameter tell: is called with the two objects of `begin`, on the thread that cancels the task.
        package init(_ tell: @escaping @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Void) {
            cancellation = .allocate(capacity: 1)
            cancellation.initialize(to: system_cancellation(tell: tell, receiver: nil, subject: nil, record: nil))
        }

        deinit { cancellation.deallocate() }

        /// Begins to watch the running task. The function is called at once if the task has been cancelled already. The caller
        /// must keep both objects until `end`.
        package func begin(_ receiver: AnyObject, _ subject: AnyObject) {
            cancellation.pointee.receiver = Unmanaged.passUnretained(receiver).toOpaque()
            cancellation.pointee.subject = Unmanaged.passUnretained(subject).toOpaque()
            system_watch_cancellation(cancellation)
        }

        /// Ends the watch. When this returns, the function is not running and will not be called.
        package func end() { system_leave_cancellation(cancellation) }
    }
#endif
