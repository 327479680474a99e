// What the values of one message can learn about it while they are written or read.

/// The object that a message belongs to, as one word. The entry points of coding carry it through to the `userInfo` of every encoder
/// and decoder; this module does not know what it stands for. Nil for values that belong to no message.
///
/// Not retained, because every call makes one: the caller of an entry point keeps the object until that returns.
package typealias CodingContext = Unmanaged<AnyObject>?

extension CodingUserInfoKey {
    /// Finds the object of the context.
    static let object = CodingUserInfoKey(rawValue: "remoteproxy.context").unsafelyUnwrapped

    /// The context as user info, for a decoder or encoder of a user that wraps one of this library.
    static func userInfo(of context: CodingContext) -> [CodingUserInfoKey: Any] {
        context.map { [.object: $0.takeUnretainedValue()] } ?? [:]
    }
}
