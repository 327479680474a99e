// A large message that others may have as well and that is not copied, or what is left of one. Behind a reference, because
// there are places for one in everything that keeps messages, and nearly always they are empty.

final class SharedMessage: Sendable {
    let bytes: Bytes

    init(_ bytes: Bytes) { self.bytes = bytes }
}
