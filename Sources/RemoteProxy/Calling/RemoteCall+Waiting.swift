// How a call waits for its end: in the way that costs least, which relies on what a runtime does not promise, or by the
// standard library's functions. Decided when the library is compiled (Package.swift), also for code that is inlined elsewhere.
//
// The requester and the call are not counted here: the subject keeps the requester, and the caller's task keeps the call.

import RPCSockets
import RPCWire

#if KNOWN_RUNTIME
    extension _RemoteCall {
        /// Sends it and waits for its end. Inlined, since an async function that need not be called costs nothing.
        @inlinable @inline(__always)
        nonisolated(nonsending) func run() async {
            begin()
            await suspend(self) { Self.start(from: $0, $1, for: $2, executor: $3) }
            endWatch()
        }

        /// Has the requester told from now on when the caller's task is cancelled. The task enters the loop here, if it runs
        /// there, and leaves it in `Requester.start`.
        @usableFromInline
        func begin() {
            call._withUnsafeGuaranteedRef { call in
                requester._withUnsafeGuaranteedRef { requester in
                    call.visit = requester.enter()
                    call.cancellation.begin(requester, call)
                }
            }
        }

        /// - Parameters: what a value of this type consists of, its caller, and where that goes on, unless at an actor.
        @usableFromInline
        static func start(
            from requester: UnsafeRawPointer, _ call: UnsafeRawPointer, for waiter: UnsafeRawPointer,
            executor: UnsafeMutableRawPointer?
        ) {
            let requester = Unmanaged<Requester>.fromOpaque(requester)
            let call = Unmanaged<OutgoingCall>.fromOpaque(call)
            // A continuation is one pointer, which is what C has been given.
            let waiter = unsafeBitCast(waiter, to: Waiter.self)
            call._withUnsafeGuaranteedRef { call in
                requester._withUnsafeGuaranteedRef { requester in
                    // The runtime would find the same by looking up what the task prefers, under a lock of the task.
                    if let executor, call.visit.isResident {
                        executor.storeBytes(
                            of: requester.loop.asUnownedSerialExecutor(), as: UnownedSerialExecutor.self)
                    }
                    requester.start(call, for: waiter)
                }
            }
        }

        /// Ends the watch for cancellation when the caller's task has been woken.
        @usableFromInline
        func endWatch() {
            call._withUnsafeGuaranteedRef { call in
                call.cancellation.end()
                // Only the end wakes the caller. Asking orders what was done to the call before, which checkers of races see.
                _ = call.hasEnded
            }
        }
    }

    /// Waits until the continuation is resumed that `begin` is given, and goes on where the task belongs without looking whether
    /// it is there (`CSystem/Suspension.c`): each look costs as much as anything else in a call, and the caller takes one anyway.
    @usableFromInline @_silgen_name("remoteproxy_suspend")
    nonisolated(nonsending) func suspend(
        _ call: _RemoteCall,
        _ begin: @convention(c) (UnsafeRawPointer, UnsafeRawPointer, UnsafeRawPointer, UnsafeMutableRawPointer?) -> Void
    ) async
#else
    extension _RemoteCall {
        /// Sends it and waits for its end. The requester is told at once when the task is cancelled.
        @usableFromInline
        nonisolated(nonsending) func run() async {
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
