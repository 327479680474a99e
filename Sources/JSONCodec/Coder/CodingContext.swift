// What the values of one message can learn about it while they are written or read.

/// The object that a message belongs to, as one word. The entry points of coding carry it through to the `userInfo` of every encoder
/// and decoder; this module does not know what it stands for. Nil for values that belong to no message.
///
/// Not retained, because every call makes one: the caller of an entry point keeps the object until that returns.
package typealias CodingContext = Unmanaged<AnyObject>?

extension CodingUserInfoKey {
    /// Finds the object of the context.
    static let object = CodingUserInfoKey(rawValue: "remoteproxy.context").unsafelyUnwrapped

    static func userInfo(of context: CodingContext) -> [CodingUserInfoKey: Any] {
        context.map { [.object: $0.takeUnretainedValue()] } ?? [:]
    }
}

extension Encoder {
    /// The object of the context; nil if there is none, and in an encoder that is not of this library.
    package var contextObject: AnyObject? { userInfo[.object].map { $0 as AnyObject } }
}

extension Decoder {
    /// As an encoder's.
    package var contextObject: AnyObject? { userInfo[.object].map { $0 as AnyObject } }
}
