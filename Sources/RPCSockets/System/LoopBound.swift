// A value that belongs to a loop's thread.

package import RPCWire

#if DEBUG
    extension LoopThread {
        /// Traps if the calling code does not run on this loop. Release builds do not ask: each question costs more than most uses of the
        /// values that belong to a loop.
        package func checkIsCurrent() { precondition(isCurrent, "touched outside of its loop") }
    }
#endif

/// A value that only code on a loop may touch. Debug builds trap if other code touches it, or if two pieces of code change it
/// at the same time. Release builds check neither, because each check costs more than most uses of such values.
///
/// `@unchecked Sendable`: only the loop's thread reaches the value. Debug builds check that.
package struct LoopBound<Value: ~Copyable>: @unchecked Sendable {
    private final class Place {
        #if DEBUG
            var value: Value
        #else
            @exclusivity(unchecked) var value: Value
        #endif

        init(_ value: consuming Value) { self.value = value }
    }

    private let place: Place
    #if DEBUG
        private let thread: any LoopThread
    #endif

    package init(_ value: consuming Value, of thread: any LoopThread) {
        place = Place(value)
        #if DEBUG
            self.thread = thread
        #endif
    }

    @inline(__always)
    private func check() {
        #if DEBUG
            thread.checkIsCurrent()
        #endif
    }

    package var value: Value {
        @inline(__always) _read {
            check()
            yield place.value
        }
        @inline(__always) nonmutating _modify {
            check()
            yield &place.value
        }
    }
}
