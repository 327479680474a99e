// Which objects each of two ends has of the other in one session: how often they were given, and what is to be given back. Exact,
// because a session delivers each message once.

import RPCSockets
import RPCWire
import Synchronization

/// The objects that cross one session, in both directions.
final class SessionObjects: Sendable {
    /// A handle, and how many messages with it have been dealt with.
    typealias Released = (handle: Int64, count: Int)

    /// An object of this end.
    fileprivate struct Given {
        let object: ExportedObject
        /// In how many messages that the other end has, or will have, and has not given back.
        var count: Int
    }

    /// An object of the other end.
    fileprivate struct Taken {
        weak var reference: RemoteReference?
        /// In how many messages it came.
        var count: Int
    }

    fileprivate struct State {
        var given: [Int64: Given] = [:]
        var taken: [Int64: Taken] = [:]
        /// What the other end is to be told: handles of its objects, and how many messages with each have been dealt with.
        var released: [Int64: Int] = [:]
        var isOver = false
        /// Whether it is known that there is something to give back.
        var isTold = false
        /// Whether a time is set at which they are given back.
        var isWaiting = false
        /// Answers that name objects and were not kept, so that the other end may get an error in their place.
        var uncertain: [(reply: Int64, objects: NamedObjects)] = []
        /// How many bytes of this have been reported.
        var reportedBytes = 0
        /// Called on any thread when there is something to give back, once until it is taken. Nil when the session is over.
        var onRelease: (@Sendable () -> Void)?
    }

    private let state: Lock<State>

    /// How many objects of the other end this one takes.
    private let most: Int
    /// Whether the messages of the other end list the objects that they name. Those of ends that run this library do.
    private let isListed: Atomic<Bool>

    init(most: Int, isListed: Bool, onRelease: @escaping @Sendable () -> Void) {
        self.most = most
        self.isListed = Atomic(isListed)
        state = Lock(State(onRelease: onRelease))
    }

    /// The other end has said that its messages list objects.
    func lists() { isListed.store(true, ordering: .relaxed) }

    var isOver: Bool { state.withLock { $0.isOver } }
    /// How many objects of this end the other one has.
    var givenCount: Int { state.withLock { $0.given.count } }
    /// How many objects of the other end this one has.
    var takenCount: Int { state.withLock { $0.taken.count } }

    /// By service. Takes time for each object that is given.
    var referenceCounts: ReferenceCounts {
        let (given, taken) = state.withLock { ($0.given, $0.taken.count) }
        var services: [String: Int] = [:]
        for object in given.values { services[object.object.index.service.name, default: 0] += 1 }
        return ReferenceCounts(given: services, takenCount: taken)
    }

    /// How many bytes more are kept than the last time. While the ends are connected nothing counts: then the limits are those of
    /// connections.
    func bytesChange(isConnected: Bool) -> Int {
        state.withLock { state in
            let handles = isConnected ? 0 : state.given.count + state.taken.count + state.released.count
            defer { state.reportedBytes = handles * Self.bytesPerHandle }
            return handles * Self.bytesPerHandle - state.reportedBytes
        }
    }

    /// About as much as an entry of the tables takes.
    private static let bytesPerHandle = 32

    // MARK: objects of this end

    /// A message leaves in this session. The other end has the objects that the message names until it gives them back.
    func gives(_ objects: NamedObjects) {
        state.withLock { state in
            if state.isOver { return }
            for object in objects.own {
                state.given[Int64(object.number), default: Given(object: object, count: 0)].count += 1
            }
        }
    }

    /// The message will not arrive after all, or not under the same number. The caller keeps the objects until this returns.
    func takesBack(_ objects: NamedObjects) {
        state.withLock { state in
            for object in objects.own { _ = state.give(Int64(object.number), back: 1) }
        }
    }

    /// An answer has left, and will be replaced by an error if it does not arrive.
    func mayLack(_ objects: NamedObjects, inReply number: Int64) {
        state.withLock { $0.uncertain.append((number, objects)) }
    }

    /// The other end has so many answers.
    /// - Parameter lacksOthers: whether it will get no other that has left: the session goes on over another connection.
    func arrived(replies number: Int64, lacksOthers: Bool) {
        let settled = state.withLock { state in
            let settled = state.uncertain.filter { lacksOthers || $0.reply <= number }
            if !settled.isEmpty { state.uncertain.removeAll { lacksOthers || $0.reply <= number } }
            return settled
        }
        for answer in settled where answer.reply > number { takesBack(answer.objects) }
    }

    /// The object that the other end calls by that handle; nil if it was given none, or has given it back.
    func object(_ handle: Int64) -> ExportedObject? { state.withLock { $0.given[handle]?.object } }

    /// The other end gives objects back.
    /// - Returns: whether it was given all of them as often.
    func released(_ objects: [Released]) -> Bool {
        // Objects go away outside the lock: what they do then may need it.
        var gone: [ExportedObject] = []
        var isExact = true
        state.withLock { state in
            gone.reserveCapacity(objects.count)
            for (handle, count) in objects {
                if let (object, isGivenAsOften) = state.give(handle, back: count) {
                    gone.append(object)
                    if !isGivenAsOften { isExact = false }
                } else {
                    isExact = false
                }
            }
        }
        withExtendedLifetime(gone) {}
        return isExact
    }

    // MARK: objects of the other end

    /// A message has come that lists these handles. Returns the objects, which the message keeps while it is dealt with.
    func arrived(_ handles: [Int64]) -> NamedObjects {
        let objects = NamedObjects()
        let onRelease = state.withLock { state -> (@Sendable () -> Void)? in
            if state.isOver { return nil }
            for handle in handles {
                if handle > 0 {
                    if state.taken.count < most || state.taken[handle] != nil {
                        objects.add(.theirs(state.take(handle, in: self)))
                    } else {
                        state.released[handle, default: 0] += 1
                        objects.isIncomplete = true
                    }
                } else if let object = state.given[-handle]?.object {
                    objects.add(.own(object))
                }
            }
            return state.tell()
        }
        onRelease?()
        return objects
    }

    /// An object of a peer whose messages do not list objects; nil if the peer lists them, or there are too many.
    func unlisted(_ handle: Int64) -> RemoteReference? {
        if isListed.load(ordering: .relaxed) || handle <= 0 { return nil }
        return state.withLock { state in
            state.isOver || state.taken.count >= most && state.taken[handle] == nil
                ? nil : state.take(handle, in: self, isForeign: true)
        }
    }

    /// An object of this end that such a peer sends back; nil if it has none of that handle, or lists objects.
    func unlistedOwn(_ handle: Int64) -> ExportedObject? {
        isListed.load(ordering: .relaxed) ? nil : object(handle)
    }

    /// Whether the other end lets far more objects wait to be given back than it may have given.
    var owesTooMany: Bool { state.withLock { $0.released.count > 2 * most } }

    /// Whether that reference has been given back already, or its session is over.
    func hasForgotten(_ reference: RemoteReference) -> Bool {
        let known = state.withLock { $0.taken[reference.handle]?.reference }
        return known !== reference
    }

    /// The last proxy for an object of the other end is gone, or the object is needed no more.
    func forget(_ reference: RemoteReference) {
        var successor: RemoteReference?
        let onRelease = state.withLock { state -> (@Sendable () -> Void)? in
            guard let place = state.taken.index(forKey: reference.handle) else { return nil }
            // If another reference has taken the place of this one, it gives back what came for both. Released outside the lock:
            // it may be the last one by then.
            successor = state.taken.values[place].reference
            guard successor == nil || successor === reference else { return nil }
            state.released[reference.handle, default: 0] += state.taken.remove(at: place).value.count
            return state.tell()
        }
        withExtendedLifetime(successor) {}
        onRelease?()
    }

    /// Notes whether a time is set at which objects are given back. False if that is known.
    func waits(_ isWaiting: Bool) -> Bool {
        state.withLock { state in
            defer { state.isWaiting = isWaiting }
            return state.isWaiting != isWaiting
        }
    }

    /// Takes out what the other end is to be told, at most so many handles.
    func takeReleased(_ most: Int) -> [Released] {
        state.withLock { state in
            let released = state.released.prefix(most).map { (handle: $0.key, count: $0.value) }
            for (handle, _) in released { state.released[handle] = nil }
            if state.released.isEmpty { state.isTold = false }
            return released
        }
    }

    /// Puts back what could not be sent. It is told again.
    func putBack(_ released: [Released]) {
        let onRelease = state.withLock { state -> (@Sendable () -> Void)? in
            if state.isOver { return nil }
            for (handle, count) in released { state.released[handle, default: 0] += count }
            state.isTold = false
            return state.tell()
        }
        onRelease?()
    }

    /// The session is over: neither end has anything of the other any more.
    func end() {
        let old = state.withLock { state in
            defer { state = State(isOver: true) }
            return state
        }
        withExtendedLifetime(old) {}
    }

    /// Why a call to one of these objects is not made when their session is over.
    var whyGone: CallFailure { self === Self.ofEndedHold ? .holdEnded : .objectGone }

    /// Of a session that is over, and has never had any.
    static let ended = makeEnded()
    /// A call under a hold that has ended goes there.
    static let ofEndedHold = makeEnded()

    private static func makeEnded() -> SessionObjects {
        let objects = SessionObjects(most: 0, isListed: true) {}
        objects.end()
        return objects
    }
}

extension SessionObjects.State {
    /// What is to be called, outside the lock.
    fileprivate mutating func tell() -> (@Sendable () -> Void)? {
        guard !released.isEmpty, !isTold else { return nil }
        isTold = true
        return onRelease
    }

    /// - Returns: the object, and whether it was given as often; nil if it was not given.
    fileprivate mutating func give(_ handle: Int64, back count: Int) -> (ExportedObject, isGivenAsOften: Bool)? {
        guard let place = given.index(forKey: handle) else { return nil }
        let known = given.values[place]
        if known.count > count {
            given.values[place].count -= count
        } else {
            given.remove(at: place)
        }
        return (known.object, known.count >= count)
    }

    fileprivate mutating func take(
        _ handle: Int64, in session: SessionObjects, isForeign: Bool = false
    ) -> RemoteReference {
        let reference: RemoteReference
        if let place = taken.index(forKey: handle) {
            taken.values[place].count += 1
            if let known = taken.values[place].reference { return known }
            // The count of one that is just going away passes to this one.
            reference = RemoteReference(handle, in: session, isForeign: isForeign)
            taken.values[place].reference = reference
        } else {
            reference = RemoteReference(handle, in: session, isForeign: isForeign)
            taken[handle] = SessionObjects.Taken(reference: reference, count: 1)
        }
        return reference
    }
}
