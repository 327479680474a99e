// Three clients in one room: each gives the server an object, and gets one of the server's.

import Protocols
import RPCServer
import RemoteProxy
import Subjects

let chatAct = Act(
    "A chat of three clients",
    """
    Each client joins with an object of its own, which the server tells what happens in the room. It gets an object
    of the server's: its place there. A client that lets go of its place, or goes away, has left.
    """
) { stage in
    try await stage.withServer(ChatProxy(ChatRooms())) { _, endpoint, client in
        let clients = (ann: client, bob: Stage.client(of: endpoint), cid: Stage.client(of: endpoint))
        defer { clients.bob.close() }
        let (annHeard, bobHeard, cidHeard) = (Notes<String>(), Notes<String>(), Notes<String>())
        let anns: any Chat = ChatProxy(clients.ann)
        do {
            let ann = try await stage.show(#"try await anns.join("garden", as: "Ann", Listener(annHeard))"#) {
                try await anns.join("garden", as: "Ann", Listener(annHeard))
            }
            let bobs: any Chat = ChatProxy(clients.bob)
            try await stage.show(
                #"try await bobs.join("garden", as: "Ann", Listener(bobHeard))"#,
                throwing: typed(ChatFailure.nameTaken("Ann"))
            ) {
                try await bobs.join("garden", as: "Ann", Listener(bobHeard))
            }
            let bob = try await bobs.join("garden", as: "Bob", Listener(bobHeard))
            let cid = try await ChatProxy(clients.cid).join("garden", as: "Cid", Listener(cidHeard))
            stage.says("Bob takes another name, and Cid comes too:")
            try await stage.show("try await ann.members()", expecting: ["Ann", "Bob", "Cid"]) {
                try await ann.members()
            }
            try stage.show("Ann heard", await annHeard.next(2), expecting: ["Bob is here", "Cid is here"])
            try stage.show("Bob heard", await bobHeard.next(1), expecting: ["Cid is here"])

            stage.says("All hear what is said, in the same order:")
            try await stage.show(#"try await ann.say("Is it raining?")"#) { try await ann.say("Is it raining?") }
            try await stage.show(#"try await bob.say("Not any more.")"#) { try await bob.say("Not any more.") }
            let talk = ["Ann: Is it raining?", "Bob: Not any more."]
            try stage.show("Ann heard", await annHeard.next(2), expecting: talk)
            try stage.show("Bob heard", await bobHeard.next(2), expecting: talk)
            try stage.show("Cid heard", await cidHeard.next(2), expecting: talk)

            stage.says("Bob leaves, and then Cid's client is closed:")
            try await stage.show("try await bob.leave()") { try await bob.leave() }
            try stage.show("Cid heard", await cidHeard.next(1), expecting: ["Bob has left"])
            try await stage.show("clients.cid.close()") { clients.cid.close() }
            try stage.show("Ann heard", await annHeard.next(2), expecting: ["Bob has left", "Cid has left"])
            try await stage.show(#"try await bob.say("Hello?")"#, throwing: typed(ChatFailure.notInRoom)) {
                try await bob.say("Hello?")
            }
            withExtendedLifetime(cid) {}
            try await stage.show("try await anns.rooms()", expecting: ["garden"]) { try await anns.rooms() }
            try await stage.show("try await ann.members()", expecting: ["Ann"]) { try await ann.members() }
        }
        stage.says("The variable `ann` is gone. So Ann is not in the room any more, and the room is no more:")
        try await stage.show("try await anns.rooms()", expecting: []) { try await anns.rooms() }
    }
}

private struct Listener: ChatMember {
    let notes: Notes<String>

    init(_ notes: Notes<String>) { self.notes = notes }

    func heard(_ text: String, from name: String) { notes.write("\(name): \(text)") }
    func joined(_ name: String) { notes.write("\(name) is here") }
    func left(_ name: String) { notes.write("\(name) has left") }
}
