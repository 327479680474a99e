// What `Loop.comeIn` answers and `Loop.goOut` takes back.

/// How code that has come to a loop stands to it.
@usableFromInline
package enum Presence: Sendable {
    /// It is not on the loop.
    case elsewhere
    /// It was there anyway.
    case atHome
    /// It is there for as long as it does not go out; then the loan goes on.
    case visiting(Loan)

    @usableFromInline
    package struct Loan: Sendable { let word: UInt }

    @inlinable package var isHere: Bool { if case .elsewhere = self { false } else { true } }
}
