// A requirement without effects and result is a post: it goes one way, and the caller does not wait.

import Protocols
import RemoteProxy

struct PostsInOrder: Act {
    let client: RPCClient

    let title = "Posts, and their order"
    let story = "`func note(_ text: String)` has no async and no result: a post. Posts of one client stay in order."

    func play(on stage: Stage) async throws {
        let counter: any Counter = CounterProxy(client)
        // Others may write into the same notebook.
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
}
