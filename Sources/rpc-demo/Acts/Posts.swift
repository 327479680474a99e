// Messages without an answer, and messages from the server to the client.

import Protocols
import RemoteProxy

/// An object of the server.
@Service
protocol Waiter: Sendable {
    func order(_ dish: String) async throws -> String
}

/// An object of the client: the waiter asks for a property and posts news.
@Service
protocol Guest: Sendable {
    var allergy: String { get async throws }
    func hear(_ news: String)
}

let postsAct = Act(
    "Posts, and their order",
    "`func note(_ text: String)` has no async and no result: a post. Posts of one client stay in order."
) { stage in
    let counter: any Counter = CounterProxy(stage.client)
    // Other programs may write into the same notebook.
    let mark = "\(UInt32.random(in: .min ... .max)): "
    let words = ["one", "two", "three"]
    try await stage.show("for word in words { counter.note(mark + word) }") {
        for word in words { counter.note(mark + word) }
    }
    stage.says("A call made after them finds them all:")
    try await stage.show(
        "try await counter.notes().filter { $0.hasPrefix(mark) }", expecting: words.map { mark + $0 }
    ) {
        try await counter.notes().filter { $0.hasPrefix(mark) }
    }
}

let callbackAct = Act(
    "The server calls back",
    """
    The guest orders from the waiter. Before it answers, the waiter asks the guest, on the same connection.
    Both ends are peers: a client exports objects too.
    """
) { stage in
    let (news, heard) = AsyncStream.makeStream(of: String.self)
    try await stage.withServer(WaiterProxy(AttentiveWaiter())) { _, _, client in
        client.export(GuestProxy(AllergicGuest(heard: heard)))
        let waiter: any Waiter = WaiterProxy(client)
        try await stage.show(#"try await waiter.order("cake")"#, expecting: "Here is your cake, without nuts.") {
            try await waiter.order("cake")
        }
        let first = await news.first { _ in true }
        try stage.show("meanwhile the guest heard", first, expecting: "One cake is being made.")
    }
}

/// Learns its caller from the task that serves the call.
private struct AttentiveWaiter: Waiter {
    func order(_ dish: String) async throws -> String {
        guard let caller = Caller.current else { return "Here is your \(dish)." }
        let guest: any Guest = GuestProxy(caller)
        guest.hear("One \(dish) is being made.")
        return "Here is your \(dish), without \(try await guest.allergy)."
    }
}

private struct AllergicGuest: Guest {
    let heard: AsyncStream<String>.Continuation

    var allergy: String { get async throws { "nuts" } }
    func hear(_ news: String) { heard.yield(news) }
}
