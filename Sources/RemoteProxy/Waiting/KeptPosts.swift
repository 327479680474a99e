// Posts that wait in a subject until they can be delivered. Each belongs to the session that has sent it.

import JSONCodec
import RPCSockets
import RPCWire

/// A post with its arguments, to be delivered once.
final class KeptPost: Sendable {
    typealias Delivery = @Sendable () async -> Void

    private let name: String
    private let delivery: Lock<Delivery?>
    private let size: Int
    /// Pays for the post; nil if it was not sent by another end.
    private let sender: Requester?

    /// Keeps a post on behalf of the present caller. Throws why it must be dropped instead.
    /// - Parameter subject: returns the subject through which the post is delivered. Asked at that moment; its owner keeps the
    ///   object until then.
    convenience init<Service, Arguments>(
        _ post: Post<Service, Arguments>, _ arguments: Arguments,
        through subject: @escaping @Sendable () -> (any Subject<Service>)?
    ) throws(NotKept) {
        let scope = CallScope.current?.later
        let sender = scope?.caller?.requester
        let size = sender == nil ? 0 : sizeInMemory(of: arguments, post.coding)
        try self.init(post.signature.wireName, from: sender, of: size) {
            guard let subject = subject() else { return }
            await CallScope.with(scope) { await post(through: subject, arguments) }
        }
    }

    init(_ name: String, from sender: Requester?, of size: Int, deliver: @escaping Delivery) throws(NotKept) {
        (self.name, self.sender, self.size, delivery) = (name, sender, size, Lock(deliver))
        try sender?.account.keeps(ObjectIdentifier(self), of: size) { [weak self] in self?.sessionIsOver() }
    }

    deinit { isOver() }

    /// Delivers the post, unless it has been dropped because its session is over.
    func deliver() async {
        await delivery.withLock { $0.take() }?()
        isOver()
    }

    /// Whether it was dropped, or is delivered already.
    var isDropped: Bool { delivery.withLock { $0 == nil } }

    private func isOver() { sender?.account.keepsNoMore(ObjectIdentifier(self), of: size) }

    private func sessionIsOver() {
        // The arguments are released outside the lock.
        guard delivery.withLock({ $0.take() }) != nil else { return }
        isOver()
        DroppedPosts.add(name, because: NotKept(.sessionGrace).why, from: sender)
    }
}

/// About how much memory these arguments take: the length of their JSON text, and a little more.
func sizeInMemory<Arguments>(of arguments: Arguments, _ coding: _ArgumentCoding<Arguments>) -> Int {
    let output = JSONOutput()
    var writer = _ArgumentWriter(output)
    try? coding.write(arguments, &writer)
    return output.count + 256
}

/// The same of a result.
func sizeInMemory<Result>(of result: Result, _ coding: _ResultCoding<Result>) -> Int {
    let output = JSONOutput()
    try? coding.write(result, output, .none)
    return output.count + 256
}
