// What is known of one call from both ends: what its caller was told, and what its subject did.

package import RPCWire
import RemoteProxy

/// Which call of which caller.
package struct CallName: Sendable, Hashable {
    package let caller: Int
    package let number: Int

    package init(_ caller: Int, _ number: Int) {
        self.caller = caller
        self.number = number
    }
}

/// What a caller was told at the end of a call.
package enum CallEnding: Sendable, Hashable {
    /// The subject ran. Nil where its result or failure carries no number.
    case executed(Int?)
    case notExecuted
    case unknown

    /// - Parameter number: the number that a declared error carries.
    package init(_ error: any Error, number: (any Error) -> Int? = { _ in nil }) {
        if let error = error as? RPCError {
            self =
                switch error.outcome {
                case .executed: .executed(nil)
                case .notExecuted: .notExecuted
                case .unknown: .unknown
                }
        } else if error is CancellationError {
            self = .unknown
        } else {
            self = .executed(number(error))
        }
    }
}

/// A call as its caller saw it.
package struct CallRecord: Sendable {
    package let name: CallName
    package let invoked: Instant
    /// When it had to have ended.
    package let deadline: Instant
    /// One, when all is well.
    package var endings: [(ending: CallEnding, at: Instant)] = []

    package init(_ name: CallName, invoked: Instant, deadline: Instant = .distantFuture) {
        self.name = name
        self.invoked = invoked
        self.deadline = deadline
    }

    /// The number it was answered with.
    var result: Int? {
        if case .executed(let result) = endings.first?.ending { result } else { nil }
    }
}

/// A call as its subject saw it, in the order of its log.
package struct Execution: Sendable, Hashable {
    package let name: CallName
    /// What it answered, or meant to.
    package let result: Int

    package init(_ name: CallName, result: Int) {
        self.name = name
        self.result = result
    }
}

/// A post as its subject saw it, in the order of its log.
package struct PostSeen: Sendable, Hashable {
    package let name: CallName
    /// The conversation in which it came.
    package let session: String

    package init(_ name: CallName, session: String) {
        self.name = name
        self.session = session
    }
}
