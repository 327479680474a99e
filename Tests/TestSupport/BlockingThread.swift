// Where tests wait for the world outside: on a thread of their own, because the few threads that tasks share must not
// be made to wait.

import RPCSockets

/// Runs a body that may block and returns its end.
package func blocking<Success: Sendable>(
    _ body: @escaping @Sendable () throws -> Success
) async -> Result<Success, any Error> {
    await Task(executorPreference: ThreadPerJob()) { try body() }.result
}

private final class ThreadPerJob: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let run: @Sendable () -> Void = { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
        // Where there is no thread to be had, the caller's has to do.
        do { try SystemThread.start(name: "blocking", run) } catch { run() }
    }
}
