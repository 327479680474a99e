// The objects of messages that are not settled: the other end may lack them, and the session counts what it has been given.

import RPCWire

/// Part of the requester's locked state. What it lets go of is returned, to be released when the lock is free: an object that goes
/// away may need the lock.
struct ObjectsUnderWay: ~Copyable {
    /// Messages of the present session that the other end may not have, by their numbers.
    private var sent = Queue<(number: Int64, objects: NamedObjects)>()
    /// Those of posts, until the posts are settled: they may wait, and may have to be sent again.
    private var ofPosts = Queue<(number: Int64, objects: NamedObjects)>()
    /// Of so many messages it is known that they may not have arrived. Of more it is assumed that they have: at worst the other end
    /// keeps objects until the session ends.
    private static let mostSent = 65_536

    /// Whether no message that names objects is under way.
    @inline(__always)
    var areNone: Bool { sent.isEmpty && ofPosts.isEmpty }

    /// Keeps the objects of a post that is sent now or later.
    mutating func keep(_ objects: NamedObjects, ofPost number: Int64) { ofPosts.append((number, objects)) }

    func ofPost(_ number: Int64) -> NamedObjects? {
        var (low, high) = (0, ofPosts.count)
        while low < high {
            let middle = (low + high) / 2
            if ofPosts[middle].number < number { low = middle + 1 } else { high = middle }
        }
        return low < ofPosts.count && ofPosts[low].number == number ? ofPosts[low].objects : nil
    }

    /// A message leaves under this number.
    /// - Parameter isListed: whether it lists its objects, so that the other end gives them back.
    mutating func leave(_ objects: NamedObjects, as number: Int64, in session: SessionObjects?, isListed: Bool) {
        session?.gives(objects)
        if isListed, sent.count < Self.mostSent { sent.append((number, objects)) }
    }

    /// The session is over.
    mutating func end() -> [NamedObjects] { arrived(through: .max) }

    /// The other end has all messages up to this number.
    mutating func arrived(through number: Int64) -> [NamedObjects] {
        var settled: [NamedObjects] = []
        while !sent.isEmpty, sent[0].number <= number, let first = sent.popFirst() { settled.append(first.objects) }
        return settled
    }

    /// A connection is ready. The messages that the other end lacks have given nothing: they are sent again, or never.
    mutating func begin(_ beginning: CallerHalf.Beginning, _ session: () -> SessionObjects) -> [NamedObjects] {
        var settled: [NamedObjects] = []
        while let (number, objects) = sent.popFirst() {
            if case .resumed(let received) = beginning, number > received { session().takesBack(objects) }
            settled.append(objects)
        }
        return settled
    }

    /// Forgets the posts that are settled.
    mutating func settle(by half: borrowing CallerHalf) -> [NamedObjects] {
        var settled: [NamedObjects] = []
        while !ofPosts.isEmpty, !half.keepsPost(ofPosts[0].number), let first = ofPosts.popFirst() {
            settled.append(first.objects)
        }
        return settled
    }
}
