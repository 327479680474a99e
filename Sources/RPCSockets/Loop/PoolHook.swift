// Sends tasks that a thread makes ready to the ordinary pool, or for a moment to the loop of that thread. Relies on the
// runtime's hook and on the memory layout of jobs and executors. So it is compiled only for runtimes that are known to have
// them (Package.swift). On other runtimes all such tasks go to the pool, which costs more.

#if KNOWN_RUNTIME && arch(x86_64) && canImport(Glibc)
    import CSystem
    import RPCWire

    enum PoolHook {
        /// False if other code has taken the hook.
        private static let isInstalled = system_hook_pool() != 0

        /// Calls `resume`. Jobs that it makes ready for the pool go into the queue of this loop instead. Called on the loop.
        static func collectJobs(of resume: () -> Void, into loop: EventLoop) {
            guard isInstalled else { return resume() }
            system_take_jobs(
                { loop, job in
                    guard let loop else { return }
                    // Both casts are safe: `loop` is the pointer that was passed below, and a job is one pointer.
                    let job = unsafeBitCast(job, to: UnownedJob.self)
                    Unmanaged<EventLoop>.fromOpaque(loop).takeUnretainedValue().state.queue.append(.hosted(job))
                }, Unmanaged.passUnretained(loop).toOpaque())
            resume()
            system_take_jobs(nil, nil)
        }

        /// Runs a job as the pool does: on no actor. The runtime's executor for that is two zeros.
        static func run(_ job: UnownedJob) {
            job.runSynchronously(on: unsafeBitCast((0, 0), to: UnownedSerialExecutor.self))
        }
    }
#else
    enum PoolHook {
        static func collectJobs(of resume: () -> Void, into _: EventLoop) { resume() }
        static func run(_ job: UnownedJob) { globalConcurrentExecutor.enqueue(ExecutorJob(job)) }
    }
#endif
