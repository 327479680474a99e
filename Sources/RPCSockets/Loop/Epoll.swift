// The Linux back end of a loop: the kernel keeps the list of descriptors and tells only about the ready ones.

#if os(Linux)
    import CSystem

    final class Epoll: Selector {
        private let queue: Int32
        private let wakeUp: Int32
        private var events = [epoll_event](repeating: epoll_event(), count: 256)
        /// A tag that no registration has.
        private static let wakeUpTag = UInt64.max

        init() throws(SystemError) {
            queue = try SystemCall.make("epoll_create1") { epoll_create1(Int32(EPOLL_CLOEXEC)) }
            do throws(SystemError) {
                wakeUp = try SystemCall.make("eventfd") {
                    eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
                }
            } catch {
                close(queue)
                throw error
            }
            // Edge-triggered: every write is one event, and nobody has to read the counter back.
            var event = epoll_event(events: EPOLLIN.rawValue | EPOLLET.rawValue, data: .init(u64: Epoll.wakeUpTag))
            guard epoll_ctl(queue, EPOLL_CTL_ADD, wakeUp, &event) == 0 else {
                let error = SystemError("epoll_ctl")
                close(wakeUp)
                close(queue)
                throw error
            }
        }

        deinit {
            close(wakeUp)
            close(queue)
        }

        func add(_ descriptor: Int32, _ interest: Interest, tag: UInt64) throws(SystemError) {
            try control(EPOLL_CTL_ADD, descriptor, interest, tag)
        }

        func change(_ descriptor: Int32, _ interest: Interest, tag: UInt64) throws(SystemError) {
            try control(EPOLL_CTL_MOD, descriptor, interest, tag)
        }

        func remove(_ descriptor: Int32) {
            var unused = epoll_event()
            epoll_ctl(queue, EPOLL_CTL_DEL, descriptor, &unused)
        }

        func wait(nanoseconds: Int64?) -> Int {
            let count = epoll_wait(queue, &events, Int32(events.count), Epoll.milliseconds(nanoseconds))
            if count >= 0 { return Int(count) }
            // The loop works out anew how long to wait. Any other error means that the loop's own descriptor is gone: a
            // bug in this process, which no peer can bring about, and after which nothing here could be trusted.
            guard system_errno() == EINTR else { fatalError("\(SystemError("epoll_wait"))") }
            return 0
        }

        func event(_ index: Int) -> ReadyEvent {
            let event = events[index]
            var readiness: Readiness = []
            if event.events & EPOLLIN.rawValue != 0 { readiness.insert(.readable) }
            if event.events & EPOLLOUT.rawValue != 0 { readiness.insert(.writable) }
            if event.events & (EPOLLHUP.rawValue | EPOLLERR.rawValue) != 0 { readiness.insert(.hungUp) }
            return ReadyEvent(tag: event.data.u64, readiness: readiness)
        }

        func wake() {
            var one: UInt64 = 1
            while write(wakeUp, &one, 8) < 0, system_errno() == EINTR {}
        }

        private func control(
            _ operation: Int32, _ descriptor: Int32, _ interest: Interest, _ tag: UInt64
        ) throws(SystemError) {
            var event = epoll_event(events: 0, data: .init(u64: tag))
            if interest.contains(.reading) { event.events |= EPOLLIN.rawValue }
            if interest.contains(.writing) { event.events |= EPOLLOUT.rawValue }
            try SystemCall.make("epoll_ctl") { epoll_ctl(queue, operation, descriptor, &event) }
        }
    }
#endif
