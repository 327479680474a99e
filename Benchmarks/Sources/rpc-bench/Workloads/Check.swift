// A figure for wrong answers is no figure.

/// Ends the run when an answer is not what it should be.
func check(_ isRight: Bool) throws {
    if !isRight { throw BenchFailure("an answer was wrong") }
}
