// Watches for the cancellation of a task, by the two halves of what the standard library offers as one async function around the
// code in question. That function's frame and closures cost a call more than its way through the socket. Only for a runtime
// that is known to have the two halves (Package.swift).

#if KNOWN_RUNTIME
    import CSystem

    /// Calls a function when the task that began it is cancelled. The same task begins and ends it. The record stands on the
    /// task's own stack, so watches end in the reverse order of their beginning.
    ///
    /// `@unchecked Sendable`: written only by the task that begins it, before the runtime has it; read by that task while it
    /// begins, if it has been cancelled before, or else under the runtime's lock on the records of the task.
    package struct CancellationWatch: ~Copyable, @unchecked Sendable {
        /// In a place of its own, since the runtime keeps its address.
        private let cancellation: UnsafeMutablePointer<system_cancellation>

        /// - Parameter tell: called with the two objects that the watch was begun with, on whichever thread cancels the task.
        package init(_ tell: @escaping @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Void) {
            cancellation = .allocate(capacity: 1)
            cancellation.initialize(to: system_cancellation(tell: tell, receiver: nil, subject: nil, record: nil))
        }

        deinit { cancellation.deallocate() }

        /// From now on the cancellation of the running task is told; at once if it has been cancelled. The caller keeps both
        /// objects until the end.
        package func begin(_ receiver: AnyObject, _ subject: AnyObject) {
            cancellation.pointee.receiver = Unmanaged.passUnretained(receiver).toOpaque()
            cancellation.pointee.subject = Unmanaged.passUnretained(subject).toOpaque()
            system_watch_cancellation(cancellation)
        }

        /// Ends the watch. When this returns, the function is not running and will not be called.
        package func end() { system_leave_cancellation(cancellation) }
    }
#endif
