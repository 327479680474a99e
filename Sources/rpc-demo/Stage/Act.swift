// One stop of the tour.

/// Does one thing, shows it on the stage, and checks what came back.
protocol Act {
    var title: String { get }
    /// What is about to be seen, and why it is worth seeing.
    var story: String { get }

    /// - Throws: `Difference` when what came back is not what should have come back.
    func play(on stage: Stage) async throws
}

/// What came back and what should have.
struct Difference: Error, CustomStringConvertible {
    let description: String

    init(_ text: String) { description = text }
}
