// What objects write down while an act goes on, for the act to wait for.

/// Notes in the order in which they are written. Copies are the same notes.
struct Notes<Note: Sendable>: Sendable {
    private let written: AsyncStream<Note>
    private let pen: AsyncStream<Note>.Continuation

    init() { (written, pen) = AsyncStream.makeStream() }

    func write(_ note: Note) { pen.yield(note) }

    /// The next notes, so many of them, each of which is read once. Waits until they are written.
    func next(_ count: Int) async -> [Note] { await written.prefix(count).reduce(into: []) { $0.append($1) } }
}
