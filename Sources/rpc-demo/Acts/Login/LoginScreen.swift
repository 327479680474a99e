// A login screen and what it tells its delegate.

import RemoteProxy

/// Who is told what happens on a login screen.
@MainActor
@Service
protocol LoginDelegate: Sendable {
    func loggedIn(_ name: String)
    func failed(_ name: String, attempts: Int)
}

/// What a delegate does not write, it does not have to: the method is optional.
extension LoginDelegate {
    func failed(_ name: String, attempts: Int) {}
}

/// Has a delegate, and no idea how many that are or where.
@MainActor
final class LoginScreen {
    private let delegate: any LoginDelegate
    private var attempts = 0

    init(delegate: any LoginDelegate) { self.delegate = delegate }

    func enter(_ name: String, password: String) {
        guard password == "sesame" else {
            attempts += 1
            return delegate.failed(name, attempts: attempts)
        }
        attempts = 0
        delegate.loggedIn(name)
    }
}

/// A delegate that wants to know everything.
@MainActor
final class Porter: LoginDelegate {
    private(set) var book: [String] = []

    func loggedIn(_ name: String) { book.append("\(name) came in") }
    func failed(_ name: String, attempts: Int) { book.append("\(name) failed, attempt \(attempts)") }
}

/// A delegate that wants to know the names of guests, and leaves the rest out.
@MainActor
final class Waitress: LoginDelegate {
    private(set) var guests: [String] = []

    func loggedIn(_ name: String) { guests.append(name) }
}
