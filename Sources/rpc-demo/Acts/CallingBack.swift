// Both ends are peers: a client exports objects too, and the server's subject calls the caller's.
//
// The protocols are `@usableFromInline` for one reason: in release builds Swift 6.3 overlooks the conformances that
// macros write for internal protocols, and takes the only conformer that it does see for the only one there is.

import RPCServer
import RemoteProxy

/// What the server offers.
@Service
@usableFromInline
protocol Waiter: Sendable {
    func order(_ dish: String) async throws -> String
}

/// What the client offers to the waiter: a property to be asked for, and a post.
@Service
@usableFromInline
protocol Guest: Sendable {
    var allergy: String { get async throws }
    func hear(_ news: String)
}

struct CallingBack: Act {
    let title = "The server calls back"
    let story =
        "The guest orders from the waiter. Before it answers, the waiter asks the guest, on the same connection."

    func play(on stage: Stage) async throws {
        let server = RPCServer()
        server.export(WaiterProxy(AttentiveWaiter()))
        let url = try await server.listen(on: "tcp://127.0.0.1:0")

        let client = RPCClient(url)
        let guest = AllergicGuest()
        client.export(GuestProxy(guest))
        let waiter: any Waiter = WaiterProxy(client)

        try await stage.show(#"try await waiter.order("cake")"#, expecting: "Here is your cake, without nuts.") {
            try await waiter.order("cake")
        }
        try stage.show("meanwhile the guest heard", await guest.nextNews(), expecting: "One cake is being made.")

        client.close()
        await server.stop()
    }
}

/// The server's subject: finds its caller in the task that serves the call.
private struct AttentiveWaiter: Waiter {
    func order(_ dish: String) async throws -> String {
        guard let caller = Caller.current else { return "Here is your \(dish)." }
        let guest: any Guest = GuestProxy(caller)

        guest.hear("One \(dish) is being made.")
        return "Here is your \(dish), without \(try await guest.allergy)."
    }
}

/// The client's object.
private struct AllergicGuest: Guest {
    private let news = AsyncStream.makeStream(of: String.self)

    var allergy: String { get async throws { "nuts" } }

    func hear(_ text: String) { news.continuation.yield(text) }

    func nextNews() async -> String? {
        for await text in news.stream { return text }
        return nil
    }
}
