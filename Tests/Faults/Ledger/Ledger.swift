// A counter whose every step is in a file that outlives its process: what it did can be held against what its callers
// were told, whatever happened to it in between.

public import RemoteProxy

/// What the fault runs call.
@Service
public protocol Ledger: Sendable {
    /// Adds one, enters it under the name of the call, and answers the new value.
    func add(caller: Int, number: Int) async throws -> Int
    /// The same, and then takes its time to answer.
    func addSlowly(caller: Int, number: Int, milliseconds: Int) async throws -> Int
    /// Answers the number. May run more than once, and so enters nothing.
    @Idempotent func again(number: Int) async throws -> Int
    /// Enters a post.
    func note(caller: Int, number: Int)
    /// Enters how much time the call has left, and asks the next server, or waits when there is none.
    func pass(waitingMilliseconds: Int) async throws
}
