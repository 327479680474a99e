// A message to the user: what cannot be remote, why not, and what to write instead.

/// A message to the user about one thing in the source.
struct Refusal: Error, Equatable {
    let message: String
    /// Bytes from the start of the declaration's source; nil for a message about the attribute.
    var offset: Int?

    static func hiddenType(_ type: String) -> String {
        "uses the type '\(type)', but every proxy has one of that name; write 'Module.\(type)' or rename yours"
    }

    /// Why a value of the type cannot be sent; nil if it can. The subject is a parameter, a result or a property.
    static func reason(against type: TypeSyntax) -> String? {
        switch type.shape {
        case .value: nil
        case .void, .tuple: "cannot be a tuple; write a Codable struct"
        case .function, .closure:
            "cannot be a closure: only a parameter is one by itself; declare a second @Service with a function for it"
        case .opaque(let protocols):
            "cannot be opaque: both ends must know the type; name a concrete type"
                + (ObjectRules.reason(against: protocols) == nil ? ", or write 'any \(protocols)'" : "")
        case .composition: "cannot be a composition of protocols; name a concrete type"
        case .metatype: "cannot be a metatype; write an enum with a case for each type"
        case .selfType: "cannot be Self: the other end has another type; name a concrete type"
        case .inlineArray: "cannot be an inline array, which is not Codable; write '[Element]'"
        case .implicitlyUnwrapped: "cannot be implicitly unwrapped; write '?'"
        case .pack: "cannot be a parameter pack; write an array"
        case .suppressed: "cannot be noncopyable: values are sent as copies; name a Codable type"
        case .untyped: "cannot be '\(type.spelling)': both ends must know the type; name a concrete type"
        case .objects(let objects): ObjectRules.reason(against: objects.protocols)
        case .enclosedObjects(let service):
            ObjectRules.reason(against: service)
                ?? "has 'any \(service)' inside another type; write 'Reference<\(ProtocolModel.proxyName(of: service))>' "
                + "in place of 'any \(service)' there"
        case .stream: "is a stream, which cannot be remote yet; return an array or take a position to go on from"
        case .specified("inout"): "cannot be inout: values are sent as copies; return the new value"
        case .specified(let word): "cannot be '\(word)': values are sent as copies; remove it"
        }
    }
}
