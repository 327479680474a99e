// Proxies without a server: between a screen, its presenter and its delegates.

import RemoteProxy

/// Provides the rows of a feed.
@Service
protocol FeedLoader: Sendable {
    func load() async throws -> [String]
}

/// Shows the rows.
@MainActor
@Service
protocol FeedView: Sendable {
    func display(_ row: String)
}

/// Is told what happens on a login screen.
@MainActor
@Service
protocol LoginDelegate: Sendable {
    func loggedIn(_ name: String)
    func failed(_ name: String)
}

/// A method with a default is optional for a delegate.
extension LoginDelegate {
    func failed(_ name: String) {}
}

let presenterAct = Act(
    "A presenter and its view",
    """
    A screen keeps its presenter, and the presenter keeps its view, which is the screen. Such a cycle is
    never freed, unless one reference in it is weak. Here the proxy's is, and both classes stay as they are.
    """
) { stage in
    try await stage.withServer(FeedLoaderProxy(MorningFeed())) { _, _, client in
        try await playFeed(on: stage, FeedLoaderProxy(client))
    }
}

@MainActor
private func playFeed(on stage: Stage, _ loader: any FeedLoader) async throws {
    stage.says("The presenter is given the screen itself:")
    try await stage.visit(leaving: "the screen, for ever") {
        let screen = FeedScreen()
        screen.presenter = FeedPresenter(loader: loader, view: screen)
        return screen
    }
    stage.says("The presenter is given a weak proxy. Nothing else is different:")
    try await stage.visit(leaving: "nothing") {
        let screen = FeedScreen()
        screen.presenter = FeedPresenter(loader: loader, view: FeedViewProxy.weak(screen))
        return screen
    }
    stage.says("This screen needs its presenter when it is made. So the proxy is made first, and bound last:")
    try await stage.visit(leaving: "nothing") {
        let (view, binding) = FeedViewProxy.unbound()
        let screen = FeedScreen(presenter: FeedPresenter(loader: loader, view: view))
        try binding.bind(to: FeedViewProxy.weak(screen))
        return screen
    }
}

let delegatesAct = Act(
    "Delegates of a login screen",
    "A screen tells its delegate what happens, and must not keep it alive. Delegates may leave methods out."
) { stage in
    try await playLogin(on: stage)
}

@MainActor
private func playLogin(on stage: Stage) async throws {
    let waitress = Waitress()
    let (front, side): (LoginScreen, LoginScreen)
    let both = Multicast<LoginDelegateProxy>()
    do {
        let porter = Porter()
        stage.says("Two screens, the second with two delegates; the waitress has left out 'failed':")
        both.add(porter)
        both.add(waitress)
        front = LoginScreen(delegate: LoginDelegateProxy.weak(porter))
        side = LoginScreen(delegate: both.proxy)
        try await stage.show(#"front.enter("Ann", password: "sesame")"#) {
            front.enter("Ann", password: "sesame")
        }
        try await stage.show(#"side.enter("Eve", password: "please")"#) {
            side.enter("Eve", password: "please")
        }
        try await stage.show(#"side.enter("Joe", password: "sesame")"#) {
            side.enter("Joe", password: "sesame")
        }
        let book = ["Ann came in", "Eve failed", "Joe came in"]
        try stage.show("in the porter's book", porter.book, expecting: book)
        try stage.show("the waitress knows", waitress.guests, expecting: ["Joe"])
    }
    stage.says("The porter is gone, since no screen kept it alive. The screens work as before:")
    try await stage.show(#"front.enter("Kim", password: "sesame")"#) {
        front.enter("Kim", password: "sesame")
    }
    try await stage.show(#"side.enter("Lea", password: "sesame")"#) {
        side.enter("Lea", password: "sesame")
    }
    try stage.show("the waitress knows", waitress.guests, expecting: ["Joe", "Lea"])
    try stage.show("delegates at the side door", both.count, expecting: 1)
}

extension Stage {
    /// A user looks at a screen and leaves it. Shows what is left of the screen then.
    @MainActor
    fileprivate func visit(leaving rest: String, _ compose: () throws -> FeedScreen) async throws {
        weak var remains: FeedScreen?
        do {
            let screen = try compose()
            remains = screen
            try await show("try await screen.pullDown()") { try await screen.pullDown() }
            try show("on the screen", screen.shown, expecting: ["loading …", "• rain", "• tea", "done"])
        }
        try show("left of it afterwards", remains == nil ? "nothing" : "the screen, for ever", expecting: rest)
    }
}

@MainActor
private final class FeedScreen: FeedView {
    var presenter: FeedPresenter?
    private(set) var shown: [String] = []

    init(presenter: FeedPresenter? = nil) { self.presenter = presenter }

    func pullDown() async throws { try await presenter?.refresh() }
    func display(_ row: String) { shown.append(row) }
}

@MainActor
private final class FeedPresenter {
    private let loader: any FeedLoader
    private let view: any FeedView

    init(loader: any FeedLoader, view: any FeedView) { (self.loader, self.view) = (loader, view) }

    func refresh() async throws {
        view.display("loading …")
        for title in try await loader.load() { view.display("• \(title)") }
        view.display("done")
    }
}

private struct MorningFeed: FeedLoader {
    func load() async throws -> [String] { ["rain", "tea"] }
}

/// Does not know the number of its delegates, or their places.
@MainActor
private final class LoginScreen {
    private let delegate: any LoginDelegate

    init(delegate: any LoginDelegate) { self.delegate = delegate }

    func enter(_ name: String, password: String) {
        if password == "sesame" { delegate.loggedIn(name) } else { delegate.failed(name) }
    }
}

@MainActor
private final class Porter: LoginDelegate {
    private(set) var book: [String] = []

    func loggedIn(_ name: String) { book.append("\(name) came in") }
    func failed(_ name: String) { book.append("\(name) failed") }
}

@MainActor
private final class Waitress: LoginDelegate {
    private(set) var guests: [String] = []

    func loggedIn(_ name: String) { guests.append(name) }
}
