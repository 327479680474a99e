// The end of every chain of subjects: the object itself, in this process. Nothing is encoded.

struct LocalSubject<Service: Sendable>: EndSubject {
    let object: Service

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
    /// Runs the method on an object that is here, for a subject that stands at the end of a chain.
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
    /// The error as the caller of the object that has thrown it is to see it.
    var thrownByObject: any Error {
        guard var error = self as? RPCError, error.endedCall, error.outcome == .notExecuted else { return self }
        // True of the call that the object made in turn, not of the one that it was called with.
        error.outcome = .executed
        return error
    }

    /// The error as the caller of a proxy, or of another part of this library, is to see it.
    package var thrownByProxy: any Error {
        guard var error = self as? RPCError else { return self }
        error.endedCall = true
        return error
    }
}
