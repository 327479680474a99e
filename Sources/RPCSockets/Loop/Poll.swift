// The back end for systems without epoll: the list of descriptors is ours, and is shown to the kernel on every wait.

import CSystem

final class Poll: Selector {
    private let wakeUpReader: Int32
    private let wakeUpWriter: Int32
    /// First the wake-up pipe, then the watched descriptors in no order; `tags` stands beside it.
    private var watched: [pollfd]
    private var tags: [UInt64] = [.max]
    /// Where in `watched` a descriptor stands.
    private var places: [Int32: Int] = [:]
    private var ready: [ReadyEvent] = []

    init() throws(SystemError) {
        var ends: (Int32, Int32) = (-1, -1)
        try SystemCall.make("pipe") {
            withUnsafeMutableBytes(of: &ends) { system_pipe($0.baseAddress?.assumingMemoryBound(to: Int32.self)) }
        }
        (wakeUpReader, wakeUpWriter) = ends
        watched = [pollfd(fd: ends.0, events: Int16(POLLIN), revents: 0)]
    }

    deinit {
        close(wakeUpReader)
        close(wakeUpWriter)
    }

    func add(_ descriptor: Int32, _ interest: Interest, tag: UInt64) throws(SystemError) {
        guard places[descriptor] == nil else { throw SystemError("poll", code: EEXIST) }
        places[descriptor] = watched.count
        watched.append(pollfd(fd: descriptor, events: Poll.events(interest), revents: 0))
        tags.append(tag)
    }

    func change(_ descriptor: Int32, _ interest: Interest, tag: UInt64) throws(SystemError) {
        guard let place = places[descriptor] else { throw SystemError("poll", code: ENOENT) }
        watched[place].events = Poll.events(interest)
        tags[place] = tag
    }

    func remove(_ descriptor: Int32) {
        guard let place = places.removeValue(forKey: descriptor) else { return }
        let last = watched.count - 1
        if place != last {
            watched[place] = watched[last]
            tags[place] = tags[last]
            places[watched[place].fd] = place
        }
        watched.removeLast()
        tags.removeLast()
    }

    func wait(nanoseconds: Int64?) -> Int {
        ready.removeAll(keepingCapacity: true)
        let count = poll(&watched, nfds_t(watched.count), Poll.milliseconds(nanoseconds))
        if count < 0 {
            // As in `Epoll`: anything but an interruption is a bug in this process, never a peer's doing.
            guard system_errno() == EINTR else { fatalError("\(SystemError("poll"))") }
            return 0
        }
        guard count > 0 else { return 0 }
        if watched[0].revents != 0 { emptyWakeUp() }
        for place in 1..<watched.count where watched[place].revents != 0 {
            ready.append(ReadyEvent(tag: tags[place], readiness: Poll.readiness(watched[place].revents)))
        }
        return ready.count
    }

    func event(_ index: Int) -> ReadyEvent { ready[index] }

    func wake() {
        var byte: UInt8 = 1
        // A full pipe wakes just as well.
        while write(wakeUpWriter, &byte, 1) < 0, system_errno() == EINTR {}
    }

    private func emptyWakeUp() {
        var bytes: UInt64 = 0
        while read(wakeUpReader, &bytes, 8) > 0 {}
    }

    private static func events(_ interest: Interest) -> Int16 {
        (interest.contains(.reading) ? Int16(POLLIN) : 0) | (interest.contains(.writing) ? Int16(POLLOUT) : 0)
    }

    private static func readiness(_ events: Int16) -> Readiness {
        var readiness: Readiness = []
        if events & Int16(POLLIN) != 0 { readiness.insert(.readable) }
        if events & Int16(POLLOUT) != 0 { readiness.insert(.writable) }
        if events & Int16(POLLHUP | POLLERR | POLLNVAL) != 0 { readiness.insert(.hungUp) }
        return readiness
    }
}
