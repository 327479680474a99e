// The poller of macOS, its relatives and FreeBSD; and of a build for tests that links a library with these functions.

#if canImport(Darwin) || os(FreeBSD) || KQUEUE
    import CSystem
    import Synchronization

    /// The kernel keeps the list of the watched descriptors, and reports only the ready ones.
    final class Kqueue: Poller {
        /// What the kernel has been asked for a descriptor. Some filter is always watched, because there is no other way to learn
        /// that a connection is broken.
        private struct Watch {
            var tag: UInt64
            var interest: Readiness
            /// The flags of the filter for reading; 0 if there is none.
            var reading: Int32 = 0
            var isWriting = false
        }

        /// A filter that gives an event in each wait for as long as it applies, and one that gives an event only at each change.
        private static let always = Int32(EV_ADD)
        private static let atChanges = Int32(EV_ADD | EV_CLEAR)

        /// A day. The kernel refuses waits of many years.
        private static let longestWait: Int64 = 86_400_000_000_000
        /// How many events one wait can report.
        private static let mostEvents = 256

        private var list: FileDescriptor?
        /// The number of `list`, for other threads; -1 until it exists.
        private let listNumber = Atomic<Int32>(-1)
        private var watches: [Int32: Watch] = [:]
        private let events = UnsafeMutablePointer<kevent>.allocate(capacity: Kqueue.mostEvents)
        private var found: ContiguousArray<(tag: UInt64, readiness: Readiness)> = []

        deinit { events.deallocate() }

        func open() throws(SystemError) {
            guard list == nil else { return }
            let list = FileDescriptor(try SystemCall.make("kqueue") { system_kqueue() })
            // What `wake` triggers. An event of it ends one wait.
            try SystemCall.make("kevent") {
                system_kqueue_change(list.number, 0, Int32(EVFILT_USER), Self.atChanges, 0)
            }
            self.list = list
            listNumber.store(list.number, ordering: .relaxed)
        }

        func add(_ descriptor: Int32, _ interest: Readiness, tag: UInt64) throws(SystemError) {
            try open()
            guard watches[descriptor] == nil else { throw SystemError("kevent", code: EEXIST) }
            watches[descriptor] = Watch(tag: tag, interest: interest)
            do throws(SystemError) {
                try change(descriptor, interest, tag: tag)
            } catch {
                remove(descriptor)
                throw error
            }
        }

        func change(_ descriptor: Int32, _ interest: Readiness, tag: UInt64) throws(SystemError) {
            guard var watch = watches[descriptor] else { throw SystemError("kevent", code: ENOENT) }
            (watch.tag, watch.interest) = (tag, interest)
            let isWriting = interest.contains(.writing)
            if watch.isWriting != isWriting { try set(descriptor, EVFILT_WRITE, isWriting ? EV_ADD : EV_DELETE) }
            watch.isWriting = isWriting
            // While reading is not watched, unread bytes must not end each wait.
            try setReading(
                descriptor, &watch, interest.contains(.reading) ? Self.always : isWriting ? 0 : Self.atChanges)
            watches[descriptor] = watch
        }

        func remove(_ descriptor: Int32) {
            guard let watch = watches.removeValue(forKey: descriptor) else { return }
            if watch.reading != 0 { try? set(descriptor, EVFILT_READ, EV_DELETE) }
            if watch.isWriting { try? set(descriptor, EVFILT_WRITE, EV_DELETE) }
        }

        func wait(nanoseconds: Int64?) -> Int {
            guard let list else { return waitToOpen(nanoseconds: nanoseconds) }
            let limit = nanoseconds.map { min(max($0, 0), Self.longestWait) } ?? -1
            let count = system_kqueue_wait(list.number, events, Int32(Self.mostEvents), limit)
            found.removeAll(keepingCapacity: true)
            if count < 0 { return waitFailed("kevent") }
            for index in 0..<Int(count) {
                if let event = event(of: events[index]) { found.append(event) }
            }
            return found.count
        }

        func event(_ index: Int) -> (tag: UInt64, readiness: Readiness) { found[index] }

        func wake() {
            let number = listNumber.load(ordering: .relaxed)
            guard number >= 0 else { return }
            while system_kqueue_change(number, 0, Int32(EVFILT_USER), 0, UInt32(NOTE_TRIGGER)) < 0,
                system_errno() == EINTR
            {}
        }

        /// Nil for an event that only `wake` or a half-closed connection has caused.
        private func event(of event: kevent) -> (tag: UInt64, readiness: Readiness)? {
            let (filter, descriptor) = (Int32(event.filter), Int32(truncatingIfNeeded: event.ident))
            guard filter != Int32(EVFILT_USER), var watch = watches[descriptor] else { return nil }
            let isOver = Int32(event.flags) & Int32(EV_EOF) != 0
            if filter == Int32(EVFILT_WRITE) { return (watch.tag, isOver ? [.writing, .hungUp] : .writing) }
            if watch.interest.contains(.reading) { return (watch.tag, .reading) }
            guard isOver, event.fflags != 0 || isBroken(descriptor) else { return nil }
            // From now on in each wait, until its handler has read to the end.
            try? setReading(descriptor, &watch, Self.always)
            watches[descriptor] = watch
            return (watch.tag, .hungUp)
        }

        /// Whether nothing can be sent any more. The peer of a connection that is half closed has only ended its own direction.
        private func isBroken(_ descriptor: Int32) -> Bool {
            guard system_send(descriptor, "", 0, "", 0) < 0 else { return false }
            switch system_errno() {
            case EAGAIN, EWOULDBLOCK, EINTR, ENOTCONN: return false
            default: return true
            }
        }

        private func setReading(
            _ descriptor: Int32, _ watch: inout Watch, _ reading: Int32
        ) throws(SystemError) {
            guard watch.reading != reading else { return }
            // The kernel does not change the flags of an entry that exists.
            if watch.reading != 0 { try set(descriptor, EVFILT_READ, EV_DELETE) }
            if reading != 0 { try set(descriptor, EVFILT_READ, reading) }
            watch.reading = reading
        }

        private func set(_ descriptor: Int32, _ filter: Int32, _ flags: Int32) throws(SystemError) {
            guard let list else { return }
            try SystemCall.make("kevent") {
                system_kqueue_change(list.number, UInt(descriptor), filter, flags, 0)
            }
        }
    }
#endif
