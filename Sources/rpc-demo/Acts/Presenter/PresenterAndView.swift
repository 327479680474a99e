// The story that the weak and the late-bound proxy come from: a screen keeps its presenter, and the presenter needs the
// screen.

import RPCServer
import RPCSockets
import RPCWire
import RemoteProxy

struct PresenterAndView: Act {
    let title = "A presenter and its view"
    let story =
        "A screen keeps its delegate, the delegate its presenter, the presenter its view: the screen. A ring like that\n"
        + "never goes away, unless one of them holds on less. Here that is a proxy, so none of them has to know."

    func play(on stage: Stage) async throws {
        let server = RPCServer()
        server.export(FeedLoaderProxy(MorningFeed()))
        let client = RPCClient(try await server.listen(on: "tcp://127.0.0.1:0"))
        try await play(on: stage, with: FeedLoaderProxy(client))
        client.close()
        await server.stop()
    }

    @MainActor
    private func play(on stage: Stage, with loader: any FeedLoader) async throws {
        stage.says("The presenter is given the screen itself:")
        let leak = Remains(of: try await visit(on: stage, compose(loader, feedView: { $0 }, loadingView: { $0 })))
        try stage.show("the screen, after everybody has left", leak.text, expecting: "still there, for ever")

        stage.says("The presenter is given weak proxies; nothing else is different:")
        let weak = Remains(
            of: try await visit(
                on: stage,
                compose(loader, feedView: { FeedViewProxy.weak($0) }, loadingView: { LoadingViewProxy.weak($0) })))
        try stage.show("the screen, after everybody has left", weak.text, expecting: "gone")

        stage.says(
            "Which is made first, if the screen wants its delegate at once? The proxies are, and are bound last:")
        let late = Remains(of: try await visit(on: stage, try composeInOneGo(loader)))
        try stage.show("the screen, after everybody has left", late.text, expecting: "gone")
    }

    /// A composition whose proxies are chosen by the caller.
    @MainActor
    private func compose(
        _ loader: any FeedLoader, feedView: (FeedScreen) -> any FeedView,
        loadingView: (FeedScreen) -> any LoadingView
    ) -> FeedScreen {
        let screen = FeedScreen()
        let presenter = FeedPresenter(feedView: feedView(screen), loadingView: loadingView(screen))
        screen.delegate = FeedAdapter(loader: loader, presenter: presenter)
        return screen
    }

    /// A composition in which nobody has to be completed afterwards.
    @MainActor
    private func composeInOneGo(_ loader: any FeedLoader) throws -> FeedScreen {
        let feedView = FeedViewProxy.unbound()
        let loadingView = LoadingViewProxy.unbound()
        let presenter = FeedPresenter(feedView: feedView, loadingView: loadingView)
        let screen = FeedScreen(delegate: FeedAdapter(loader: loader, presenter: presenter))
        try feedView.bind(to: FeedViewProxy.weak(screen))
        try loadingView.bind(to: LoadingViewProxy.weak(screen))
        return screen
    }

    /// A user comes, looks at the screen, and leaves with it.
    @MainActor
    private func visit(on stage: Stage, _ screen: FeedScreen) async throws -> FeedScreen {
        try await stage.show("try await screen.pullDown()") {
            try await screen.pullDown()
        }
        try stage.show("on the screen", screen.shown, expecting: ["loading …", "• rain", "• tea", "done"])
        return screen
    }
}

/// What is left of a screen that nobody can reach any more: whether its `deinit` has come.
@MainActor
private struct Remains {
    private let isGone: Lock<Bool>

    init(of screen: consuming FeedScreen) { isGone = screen.isGone }

    var text: String { isGone.withLock { $0 } ? "gone" : "still there, for ever" }
}
