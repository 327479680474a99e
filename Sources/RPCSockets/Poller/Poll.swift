// The poller of any system that has POSIX. Each wait looks at all descriptors, so it is for systems that have nothing better, and
// a second opinion in tests.

import CSystem
import Synchronization

/// Keeps the list of the watched descriptors itself. A pipe ends a wait.
final class Poll: Poller {
    private var ends: (reader: FileDescriptor, writer: FileDescriptor)?
    /// The number of `ends.writer`, for other threads; -1 until it exists.
    private let writer = Atomic<Int32>(-1)
    /// What `poll` looks at. The first entry is `ends.reader`.
    private var entries: ContiguousArray<pollfd> = []
    /// The tags of the entries. The first one is of no registration.
    private var tags: ContiguousArray<UInt64> = []
    /// The index of the entry of each watched descriptor.
    private var places: [Int32: Int] = [:]
    private var found: ContiguousArray<(tag: UInt64, readiness: Readiness)> = []

    func open() throws(SystemError) {
        guard ends == nil else { return }
        let (reader, writer) = try SystemCall.pair("pipe", system_pipe)
        ends = (FileDescriptor(reader), FileDescriptor(writer))
        insert(reader, .reading, .max)
        self.writer.store(writer, ordering: .relaxed)
    }

    func add(_ descriptor: Int32, _ interest: Readiness, tag: UInt64) throws(SystemError) {
        try open()
        guard places[descriptor] == nil else { throw SystemError("poll", code: EEXIST) }
        insert(descriptor, interest, tag)
    }

    func change(_ descriptor: Int32, _ interest: Readiness, tag: UInt64) throws(SystemError) {
        guard let place = places[descriptor] else { throw SystemError("poll", code: ENOENT) }
        entries[place].events = Int16(interest.rawValue)
        tags[place] = tag
    }

    func remove(_ descriptor: Int32) {
        guard let place = places.removeValue(forKey: descriptor) else { return }
        entries.swapAt(place, entries.count - 1)
        tags.swapAt(place, tags.count - 1)
        entries.removeLast()
        tags.removeLast()
        if place < entries.count { places[entries[place].fd] = place }
    }

    func wait(nanoseconds: Int64?) -> Int {
        guard let ends else { return waitToOpen(nanoseconds: nanoseconds) }
        let (count, milliseconds) = (entries.count, Self.milliseconds(nanoseconds))
        var ready = entries.withUnsafeMutableBufferPointer { poll($0.baseAddress, nfds_t(count), milliseconds) }
        found.removeAll(keepingCapacity: true)
        if ready < 0 { return waitFailed("poll") }
        if ready > 0, entries[0].revents != 0 {
            var bytes: (UInt64, UInt64) = (0, 0)
            while read(ends.reader.number, &bytes, 16) == 16 {}
            ready -= 1
        }
        for place in 1..<count where ready > found.count && entries[place].revents != 0 {
            found.append((tags[place], Readiness(rawValue: UInt32(UInt16(bitPattern: entries[place].revents)))))
        }
        return found.count
    }

    func event(_ index: Int) -> (tag: UInt64, readiness: Readiness) { found[index] }

    func wake() {
        let number = writer.load(ordering: .relaxed)
        guard number >= 0 else { return }
        // If the pipe is full, the wait ends anyway.
        while write(number, "!", 1) < 0, system_errno() == EINTR {}
    }

    private func insert(_ descriptor: Int32, _ interest: Readiness, _ tag: UInt64) {
        places[descriptor] = entries.count
        entries.append(pollfd(fd: descriptor, events: Int16(interest.rawValue), revents: 0))
        tags.append(tag)
    }
}
