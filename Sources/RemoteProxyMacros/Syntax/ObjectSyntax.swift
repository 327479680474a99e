// Where the objects are in a type that is spelled with objects in it.

/// A type whose values are objects, or optionals, arrays and dictionaries with objects in them.
indirect enum ObjectSyntax: Equatable {
    /// `any P`, with the protocols as spelled after `any`.
    case object(String)
    /// A closure, with the name of its shape.
    case closure(String)
    case optional(ObjectSyntax)
    case array(ObjectSyntax)
    case dictionary(key: String, ObjectSyntax)

    /// The protocols of the objects, as spelled after `any`.
    var protocols: String {
        switch self {
        case .object(let protocols): protocols
        case .closure: ""
        case .optional(let inner), .array(let inner), .dictionary(_, let inner): inner.protocols
        }
    }
}
