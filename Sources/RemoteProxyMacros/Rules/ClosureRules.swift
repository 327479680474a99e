// Judges the closures among the parameters of a requirement.

/// Judges a closure.
enum ClosureRules {
    /// Why the closure cannot be sent; nil if it can.
    static func reason(against closure: ClosureSyntax, spelled spelling: String) -> String? {
        let plain = closure.attributes.reduce(spelling) { $0.replacing("\($1) ", with: "") }
        let fix = "write '@escaping @Sendable \(plain)'"
        guard let parameters = closure.parameters else {
            return "is a closure with a parameter that cannot be sent; give it Codable values"
        }
        if let other = closure.attributes.subtracting(["@escaping", "@Sendable"]).min() {
            return "is a closure that cannot be '\(other)', since it is called from the other end; \(fix)"
        }
        guard closure.attributes.count == 2 else {
            return "is a closure that is kept and called at any time, on any thread; \(fix)"
        }
        for type in parameters {
            if let reason = reason(against: type) { return "is a closure, and one of its parameters \(reason)" }
        }
        if let result = closure.result, let reason = reason(against: result) {
            return "is a closure, and its result \(reason)"
        }
        if let type = closure.thrownType, !["any Error", "any Swift.Error"].contains(type) {
            return "is a closure that cannot throw only \(type), because the connection can fail too; write 'throws'"
        }
        if closure.isAsync && closure.isThrowing || closure.result == nil && !closure.isAsync && !closure.isThrowing {
            return nil
        }
        return "is a closure that must be 'async throws', because calling it takes time and can fail"
            + (closure.result == nil ? ", or neither, to be called without waiting" : "")
    }

    private static func reason(against type: TypeSyntax) -> String? {
        if type.objects != nil { return "cannot be an object; pass an object of a @Service instead of the closure" }
        return Refusal.reason(against: type)
    }
}
