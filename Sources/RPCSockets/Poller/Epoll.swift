// The poller of Linux.

#if os(Linux) || os(Android)
    import CSystem
    import Synchronization

    /// The kernel keeps the list of the watched descriptors, and reports only the ready ones. One more descriptor ends a wait.
    final class Epoll: Poller {
        /// A tag that no registration has.
        private static let wakeUpTag = UInt64.max
        /// How many events one wait can report.
        private static let mostEvents = 256

        private var list: FileDescriptor?
        private var wakeUp: FileDescriptor?
        /// The number of `wakeUp`, for other threads; -1 until it exists.
        private let wakeUpNumber = Atomic<Int32>(-1)
        /// The events of the last wait. Not an array, which would be checked and copied for the system each time.
        private let events = UnsafeMutablePointer<epoll_event>.allocate(capacity: Epoll.mostEvents)

        deinit { events.deallocate() }

        func open() throws(SystemError) {
            guard list == nil else { return }
            let list = FileDescriptor(try SystemCall.make("epoll_create1") { epoll_create1(Int32(EPOLL_CLOEXEC)) })
            let wakeUp = FileDescriptor(
                try SystemCall.make("eventfd") { eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK)) })
            // Edge-triggered: every write is one event, and the counter need not be read back.
            let interest = Readiness.reading.rawValue | system_edge_triggered
            var event = epoll_event(events: interest, data: .init(u64: Self.wakeUpTag))
            try SystemCall.make("epoll_ctl") { epoll_ctl(list.number, EPOLL_CTL_ADD, wakeUp.number, &event) }
            (self.list, self.wakeUp) = (list, wakeUp)
            wakeUpNumber.store(wakeUp.number, ordering: .relaxed)
        }

        func add(_ descriptor: Int32, _ interest: Readiness, tag: UInt64) throws(SystemError) {
            try open()
            try control(EPOLL_CTL_ADD, descriptor, interest, tag)
        }

        func change(_ descriptor: Int32, _ interest: Readiness, tag: UInt64) throws(SystemError) {
            try control(EPOLL_CTL_MOD, descriptor, interest, tag)
        }

        func remove(_ descriptor: Int32) {
            var unused = epoll_event()
            if let list { epoll_ctl(list.number, EPOLL_CTL_DEL, descriptor, &unused) }
        }

        func wait(nanoseconds: Int64?) -> Int {
            guard let list else { return waitToOpen(nanoseconds: nanoseconds) }
            let milliseconds = Self.milliseconds(nanoseconds)
            let count = epoll_wait(list.number, events, Int32(Self.mostEvents), milliseconds)
            return count >= 0 ? Int(count) : waitFailed("epoll_wait")
        }

        func event(_ index: Int) -> (tag: UInt64, readiness: Readiness) {
            (events[index].data.u64, Readiness(rawValue: events[index].events))
        }

        func wake() {
            let number = wakeUpNumber.load(ordering: .relaxed)
            guard number >= 0 else { return }
            var one: UInt64 = 1
            while write(number, &one, 8) < 0, system_errno() == EINTR {}
        }

        private func control(
            _ operation: Int32, _ descriptor: Int32, _ interest: Readiness, _ tag: UInt64
        ) throws(SystemError) {
            guard let list else { return }
            var event = epoll_event(events: interest.rawValue, data: .init(u64: tag))
            try SystemCall.make("epoll_ctl") { epoll_ctl(list.number, operation, descriptor, &event) }
        }
    }
#endif
