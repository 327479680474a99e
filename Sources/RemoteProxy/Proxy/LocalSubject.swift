// The end of a chain of subjects in this process: the object itself. Nothing is encoded.

struct LocalSubject<Service: Sendable>: EndSubject {
    let object: Service

    /// Identifies the object if it is an instance of a class or an actor; nil for any other value.
    static func instance(_ object: Service) -> ObjectIdentifier? {
        type(of: object as Any) is AnyClass ? ObjectIdentifier(object as AnyObject) : nil
    }

    @inline(__always)
    func call<Arguments, Result>(
        _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) async throws -> Result {
        try await method.run(on: object, arguments)
    }

    func post<Arguments>(_ post: Post<Service, Arguments>, _ arguments: Arguments, now: (Service) -> Void) {
        now(object)
    }
}

extension Method {
    /// Runs the method on an object in this process, for a subject at the end of a chain.
    @inline(__always)
    func run(on object: Service, _ arguments: Arguments) async throws -> Result {
        progress?.begin(.executed)
        do {
            let result = try await invoke(object, arguments)
            progress?.end(.executed, as: .executed)
            return result
        } catch {
            let error = error.thrownByObject
            progress?.end(.executed, as: (error as? RPCError)?.outcome ?? .executed)
            throw error
        }
    }
}

extension Error {
    /// The error that the object's caller gets.
    var thrownByObject: any Error {
        guard var error = self as? RPCError, error.endedCall, error.outcome == .notExecuted else { return self }
        // `.notExecuted` is true of the call that the object made, not of the call that it serves.
        error.outcome = .executed
        return error
    }

    /// The error that the caller of a proxy, or of another part of this library, gets.
    package var thrownByProxy: any Error {
        guard var error = self as? RPCError else { return self }
        error.endedCall = true
        return error
    }
}
