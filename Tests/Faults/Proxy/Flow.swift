// One direction of one connection through the proxy: what has been read on one side and not been written on the other.

struct Flow {
    /// As much as is read ahead of a receiver that does not read.
    private static let capacity = 65_536

    let source: RawDescriptor
    let target: RawDescriptor
    private var held: [UInt8] = []
    private var head = 0
    /// The source will send no more.
    private(set) var hasEnded = false
    /// The target has been told so, or is gone.
    private(set) var isFinished = false
    /// Whatever comes from now on is thrown away.
    var isDiscarding = false

    init(from source: RawDescriptor, to target: RawDescriptor) {
        self.source = source
        self.target = target
    }

    var waiting: Int { held.count - head }
    var wantsToRead: Bool { !hasEnded && (isDiscarding || waiting < Self.capacity) }
    var wantsToWrite: Bool { !isFinished && !isDiscarding && (waiting > 0 || hasEnded) }

    /// - Parameter alter: what happens to the bytes on the way.
    mutating func read(_ alter: (inout [UInt8]) -> Void) {
        switch source.receive() {
        case .nothing: break
        case .end: hasEnded = true
        case .bytes(var bytes):
            guard !isDiscarding else { return }
            alter(&bytes)
            held += bytes
        }
    }

    /// Passes on at most so many bytes, and the end behind the last of them. Answers how many.
    mutating func write(atMost limit: Int) -> Int {
        guard wantsToWrite else { return 0 }
        let piece = held[head..<head + min(limit, waiting)]
        let count = piece.isEmpty ? 0 : target.send(piece)
        head += count ?? waiting
        if head == held.count { (held, head) = ([], 0) }
        if count == nil || hasEnded && waiting == 0 { finish() }
        return count ?? 0
    }

    /// The target hears the end, and nothing that comes later.
    mutating func finish() {
        isFinished = true
        isDiscarding = true
        (held, head) = ([], 0)
        target.finishSending()
    }
}
