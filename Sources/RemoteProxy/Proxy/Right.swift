// What subjects give to the tasks that they let in, and recognise when those come again.

/// What the running task may do and others may not. It stands in `CallScope`, where a subject looks for its own kind.
protocol Right: Sendable {
    /// Whether others wait for its end.
    var isHold: Bool { get }

    /// What an object at the other end of a connection is called under this right. Nil unless it is a right to that object.
    func name(of object: RemoteObject) -> String?
}

extension Right {
    var isHold: Bool { false }
    func name(of object: RemoteObject) -> String? { nil }
}

/// An object at the other end of a connection.
struct RemoteObject: Equatable {
    /// Which `Requester`.
    let peer: ObjectIdentifier
    let service: String
    /// Which of several objects of the service. Nil for the unnamed one.
    let name: String?
}
