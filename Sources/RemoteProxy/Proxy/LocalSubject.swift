// The end of every chain of subjects: the object itself, in this process. Nothing is encoded.

struct LocalSubject<Service: Sendable>: Subject {
    let object: Service

    func call<Arguments, Result>(
        _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) async throws -> Result {
        try await method.invoke(object, arguments)
    }

    func post<Arguments>(_ post: Post<Service, Arguments>, _ arguments: Arguments, now: (Service) -> Void) {
        now(object)
    }
}
