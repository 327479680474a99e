// What `Loop.comeIn` answers and `Loop.goOut` takes back.

/// How code that has come to a loop stands to it.
@usableFromInline
package enum Presence: Sendable {
    /// It is not on the loop.
    case elsewhere
    /// It was there anyway.
    case atHome
    /// It is there for as long as it does not go out; then the loan goes on.
    /// - Parameter asGuest: it is a task of the pool's, and none that prefers the loop.
    case visiting(Loan, asGuest: Bool)

    @usableFromInline
    package struct Loan: Sendable {
        package let word: UInt
        package init(word: UInt) { self.word = word }
    }

    /// Whether it is a task that prefers the loop.
    @inlinable package var isResident: Bool { if case .visiting(_, asGuest: false) = self { true } else { false } }
    @inlinable package var isHere: Bool { if case .elsewhere = self { false } else { true } }
}
