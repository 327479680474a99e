// What the values of one message can learn about it while they are written or read.

/// One word, which the entry points of coding carry through to the `userInfo` of every encoder and decoder. This module does not know
/// what it stands for.
@usableFromInline
package struct CodingContext {
    // Not retained, because every call makes one. The caller of an entry point keeps the object until that returns.
    private let reference: Unmanaged<AnyObject>?

    /// For values that belong to no message.
    package static var none: CodingContext { CodingContext(reference: nil) }

    /// - Parameter object: has to live for as long as the value is written or read.
    package init(of object: AnyObject) { reference = .passUnretained(object) }

    private init(reference: Unmanaged<AnyObject>?) { self.reference = reference }

    /// Nil if there is none.
    package var object: AnyObject? { reference?.takeUnretainedValue() }

    var userInfo: [CodingUserInfoKey: Any] { object.map { [.object: $0] } ?? [:] }
}

extension CodingUserInfoKey {
    /// Finds the object of the context.
    static let object = CodingUserInfoKey(rawValue: "remoteproxy.context").unsafelyUnwrapped
}

extension Encoder {
    /// The object of the context; nil if there is none, and in an encoder that is not of this library.
    package var contextObject: AnyObject? { userInfo[.object].map { $0 as AnyObject } }
}

extension Decoder {
    /// As an encoder's.
    package var contextObject: AnyObject? { userInfo[.object].map { $0 as AnyObject } }
}
