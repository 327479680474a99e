// The parts of the feed screen. None has a `weak`; how they hold each other is for whoever puts them together.

import RPCSockets
import RPCWire

/// A screen, and what can be seen on it.
@MainActor
final class FeedScreen: FeedView, LoadingView {
    var delegate: (any FeedScreenDelegate)?
    private(set) var shown: [String] = []
    /// Outlives the screen.
    let isGone = Lock(false)

    init(delegate: (any FeedScreenDelegate)? = nil) { self.delegate = delegate }

    deinit { isGone.withLock { $0 = true } }

    func pullDown() async throws { try await delegate?.refresh() }

    func display(rows: [String]) { shown += rows }
    func display(isLoading: Bool) { shown.append(isLoading ? "loading …" : "done") }
}

/// Decides what is to be seen.
@MainActor
final class FeedPresenter {
    private let feedView: any FeedView
    private let loadingView: any LoadingView

    init(feedView: any FeedView, loadingView: any LoadingView) {
        self.feedView = feedView
        self.loadingView = loadingView
    }

    func loadingBegins() { loadingView.display(isLoading: true) }

    func loadingEnds(with titles: [String]) {
        feedView.display(rows: titles.map { "• \($0)" })
        loadingView.display(isLoading: false)
    }
}

/// Between the screen, the loader and the presenter.
struct FeedAdapter: FeedScreenDelegate {
    let loader: any FeedLoader
    let presenter: FeedPresenter

    func refresh() async throws {
        await presenter.loadingBegins()
        let titles = try await loader.load()
        await presenter.loadingEnds(with: titles)
    }
}

/// What the server has.
struct MorningFeed: FeedLoader {
    func load() async throws -> [String] { ["rain", "tea"] }
}
