// Recognises texts that cost too much time to hash or to compare. Swift sorts the combining marks behind a character for that, and
// the time grows with the square of their number.

package enum CombiningMarks {
    /// The most marks behind one character in a text that is hashed or compared. Unicode's format for streams has the same limit,
    /// which is more than any language needs.
    package static let mostInARow = 30

    /// Why a text was refused.
    package static let reason = "a text that is compared has more than \(mostInARow) combining marks in a row"

    /// Whether a text has more of them in a row than are allowed.
    package static func areTooMany(in text: String) -> Bool {
        // Each takes two bytes or more.
        guard text.utf8.count > 2 * mostInARow else { return false }
        var inARow = 0
        for scalar in text.unicodeScalars {
            // Below are letters, and no marks.
            let isMark = scalar.value >= 0x300 && scalar.properties.canonicalCombiningClass != .notReordered
            inARow = isMark ? inARow + 1 : 0
            if inARow > mostInARow { return true }
        }
        return false
    }
}
