// Posts that wait in a subject until they can be delivered. Each belongs to the session that has sent it.

import JSONCodec
import RPCSockets
import RPCWire

/// A post with its arguments, to be delivered once through any subject.
final class KeptPost<Service: Sendable>: Sendable {
    typealias Delivery = @Sendable (any Subject<Service>) async -> Void

    private let delivery: Lock<Delivery?>
    private let size: Int
    /// Pays for the post; nil if it was not sent by another end.
    private let sender: Requester?

    /// Keeps a post on behalf of the present caller. Throws why it must be dropped instead.
    convenience init<Arguments>(_ post: Post<Service, Arguments>, _ arguments: Arguments) throws(NotKept) {
        let scope = CallScope.current?.later
        let sender = scope?.caller?.peer
        try self.init(from: sender, of: sender == nil ? 0 : post.coding.size(of: arguments)) { subject in
            await CallScope.with(scope) { await post(through: subject, arguments) }
        }
    }

    init(from sender: Requester?, of size: Int, deliver: @escaping Delivery) throws(NotKept) {
        (self.sender, self.size, delivery) = (sender, size, Lock(deliver))
        try sender?.account.keeps(ObjectIdentifier(self), of: size) { [weak self] in self?.drop() }
    }

    deinit { drop() }

    /// Delivers the post, unless it has been dropped because its session is over.
    func deliver(through subject: any Subject<Service>) async {
        await delivery.withLock { $0.take() }?(subject)
        drop()
    }

    private func drop() {
        // The arguments are released outside the lock.
        _ = delivery.withLock { $0.take() }
        sender?.account.keepsNoMore(ObjectIdentifier(self), of: size)
    }
}

extension ArgumentCoding {
    /// About how much memory these arguments take: the length of their JSON text, and a little more.
    func size(of arguments: Arguments) -> Int {
        let output = JSONOutput()
        var writer = ArgumentWriter(output)
        try? write(arguments, &writer)
        return output.count + 256
    }
}
