// Whose callers are to be told next when their tasks are cancelled. Pure: numbers of calls in and out.

/// The numbers of calls whose callers nobody tells yet, and of others between them. Numbers ascend, so that two of them tell
/// the calls that the last look has seen from those that have begun since.
struct UnwatchedCalls {
    /// From the first that may be unwatched to the first that the last look has not seen; nil while all are watched.
    private var seen: Range<Int64>?

    var isEmpty: Bool { seen == nil }

    /// A call begins that nobody watches. Answers whether it is the first, for which somebody has to look.
    mutating func begin(at number: Int64) -> Bool {
        guard seen == nil else { return false }
        seen = number..<number
        return true
    }

    /// A look. Answers which calls are to be watched now: those that the last look has seen already.
    /// - Parameter next: the number of the next call.
    mutating func look(next: Int64) -> Range<Int64> {
        guard let due = seen else { return next..<next }
        seen = due.upperBound < next ? due.upperBound..<next : nil
        return due
    }
}
