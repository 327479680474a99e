// How a call waits for its end. With `KNOWN_RUNTIME` (set in Package.swift) it waits in the cheapest way, which relies on what
// no Swift runtime promises. Otherwise it uses the standard library. Code that is inlined elsewhere has the same setting.
//
// The requester and the call are not retained here: the subject keeps the requester, and the caller's task keeps the call.

import RPCSockets
import RPCWire

#if KNOWN_RUNTIME && arch(x86_64) && canImport(Glibc)
    extension _RemoteCall {
        /// Sends the call and waits for its end. Inlined, since an async function that need not be called costs nothing.
        @inlinable @inline(__always)
        nonisolated(nonsending) func wait() async {
            await suspend(self) { Self.start(from: $0, $1, for: $2, executor: $3) }
        }

        /// Begins to watch for the cancellation of the caller's task, which then calls `wait` and `end`. If the task has the
        /// loop's thread, it enters the loop here, and leaves it in `Requester.start`.
        func begin() {
            call._withUnsafeGuaranteedRef { call in
                requester._withUnsafeGuaranteedRef { requester in
                    call.visit = requester.enter()
                    call.cancellation.begin(requester, call)
                }
            }
        }

        /// Called by `suspend` when the task waits. `executor` is the place for the task's executor; nil for an actor.
        @usableFromInline
        static func start(
            from requester: UnsafeRawPointer, _ call: UnsafeRawPointer, for waiter: UnsafeRawPointer,
            executor: UnsafeMutableRawPointer?
        ) {
            let requester = Unmanaged<Requester>.fromOpaque(requester)
            let call = Unmanaged<OutgoingCall>.fromOpaque(call)
            // A continuation is one pointer, and C has passed that pointer on.
            let waiter = unsafeBitCast(waiter, to: Waiter.self)
            call._withUnsafeGuaranteedRef { call in
                requester._withUnsafeGuaranteedRef { requester in
                    // The runtime would find the same executor by looking up what the task prefers, under a lock of the task.
                    if let executor, call.visit.isResident {
                        executor.storeBytes(
                            of: requester.loop.asUnownedSerialExecutor(), as: UnownedSerialExecutor.self)
                    }
                    requester.start(call, for: waiter)
                }
            }
        }

        /// Ends the watch for cancellation. Called when the caller's task has been resumed.
        func end() {
            call._withUnsafeGuaranteedRef { call in
                call.cancellation.end()
                // Only the end of the call resumes the caller. This read orders what came before, as race checkers can see.
                _ = call.hasEnded
            }
        }
    }

    /// Calls `begin` with a continuation and waits until it is resumed. Then goes on where the task belongs, without a check
    /// (`CSystem/Suspension.c`): a check costs as much as other parts of a call, and the caller makes one anyway.
    @usableFromInline @_silgen_name("remoteproxy_suspend")
    nonisolated(nonsending) func suspend(
        _ call: _RemoteCall,
        _ begin: @convention(c) (UnsafeRawPointer, UnsafeRawPointer, UnsafeRawPointer, UnsafeMutableRawPointer?) -> Void
    ) async
#else
    extension _RemoteCall {
        // Nothing to do: `wait` watches for cancellation itself.
        func begin() {}
        func end() {}

        /// Sends the call and waits for its end. The requester is told at once when the task is cancelled.
        @usableFromInline
        nonisolated(nonsending) func wait() async {
            let (requester, call) = (requester.takeUnretainedValue(), call.takeUnretainedValue())
            await withTaskCancellationHandler {
                await withUnsafeContinuation { waiter in
                    call.visit = requester.enter()
                    requester.start(call, for: waiter)
                }
            } onCancel: {
                requester.cancel(call)
            }
        }
    }
#endif
