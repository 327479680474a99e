// What the parts of a feed screen know of each other: four protocols, and none knows who is behind one.

import RemoteProxy

/// Where the feed comes from. Far away.
@Service
protocol FeedLoader: Sendable {
    func load() async throws -> [String]
}

/// Where its rows are seen.
@MainActor
@Service
protocol FeedView: Sendable {
    func display(rows: [String])
}

/// Where it is seen that something is under way.
@MainActor
@Service
protocol LoadingView: Sendable {
    func display(isLoading: Bool)
}

/// Who is told what the user wants.
@Service
protocol FeedScreenDelegate: Sendable {
    func refresh() async throws
}
