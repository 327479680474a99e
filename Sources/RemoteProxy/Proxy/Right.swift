// What subjects give the tasks that they let in, to know them by when they come again.

/// What the running task has and others have not. Subjects look for their own kind in `CallScope`.
enum Right: Sendable {
    /// A hold on a lock: calls take turns with the lock inside it.
    case lock(SubjectLock, inside: SubjectLock)
    /// A hold at the other end of a connection: calls go to the object under another name.
    case remote(RemoteHold)
    /// A handle on a counted object, which is then not counted for the caller besides.
    case handle(of: ObjectIdentifier)

    /// Whether others wait for its end.
    var isHold: Bool {
        switch self {
        case .lock, .remote: true
        case .handle: false
        }
    }
}
