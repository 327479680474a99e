// The story of the login screens again, with the screens at a server and their delegates at its clients.

import RPCServer
import RemoteProxy

/// A door with a login screen.
@Service
protocol Door: Sendable {
    /// Tells the delegate from now on. Returns whether it is told of failures too.
    func add(_ delegate: any LoginDelegate) async throws -> Bool
    func enter(_ name: String, password: String) async throws
}

/// `LoginDelegate` as it was in an earlier release, without `failed`.
@Service(name: "LoginDelegate")
protocol EarlierLoginDelegate: Sendable {
    func loggedIn(_ name: String)
}

/// `Door` as it was then.
@Service(name: "Door")
protocol EarlierDoor: Sendable {
    func add(_ delegate: any EarlierLoginDelegate) async throws -> Bool
}

let remoteDelegatesAct = Act(
    "Delegates over the wire",
    """
    Two doors of a server tell delegates at a client who logs in. The delegates have the protocol of the act before,
    which knows nothing of a wire. The client decides whether a door keeps a delegate alive.
    """
) { stage in
    try await stage.withServer(DoorProxy(GuardedDoor())) { server, _, client in
        server.export(DoorProxy(GuardedDoor()), named: "side")
        let (front, side): (any Door, any Door) = (DoorProxy(client), DoorProxy(client, named: "side"))
        let earlierSide: any EarlierDoor = EarlierDoorProxy(client, named: "side")
        let (porterHeard, waitressHeard, cookHeard) = (Notes<String>(), Notes<String>(), Notes<String>())
        do {
            let porter = await DayPorter(porterHeard)
            let waitress = await DayWaitress(waitressHeard)
            stage.says("One delegate for two doors. Neither door keeps the porter alive:")
            try await stage.show("try await front.add(LoginDelegateProxy.weak(porter))", expecting: true) {
                try await front.add(LoginDelegateProxy.weak(porter))
            }
            try await stage.show("try await side.add(LoginDelegateProxy.weak(porter))", expecting: true) {
                try await side.add(LoginDelegateProxy.weak(porter))
            }
            stage.says(
                "More delegates for one door, which keeps these two. The waitress has left out 'failed', which has a default:"
            )
            try await stage.show("try await side.add(waitress)", expecting: true) { try await side.add(waitress) }
            stage.says("The cook is of an earlier release, which had no 'failed'. The door has asked with `supports`:")
            try await stage.show("try await earlierSide.add(Cook(cookHeard))", expecting: false) {
                try await earlierSide.add(Cook(cookHeard))
            }
            try await stage.show(#"try await front.enter("Ann", password: "sesame")"#) {
                try await front.enter("Ann", password: "sesame")
            }
            try await stage.show(#"try await side.enter("Eve", password: "please")"#) {
                try await side.enter("Eve", password: "please")
            }
            try await stage.show(#"try await side.enter("Joe", password: "sesame")"#) {
                try await side.enter("Joe", password: "sesame")
            }
            let book = ["Ann came in", "Eve failed", "Joe came in"]
            try stage.show("the porter heard", await porterHeard.next(3), expecting: book)
            try stage.show("the waitress heard", await waitressHeard.next(1), expecting: ["Joe came in"])
            try stage.show("the cook heard", await cookHeard.next(1), expecting: ["Joe came in"])
            withExtendedLifetime((porter, waitress)) {}
        }
        stage.says("The client lets go of all three. Only the porter goes away, and the doors do not mind:")
        try stage.show("the porter's last note", await porterHeard.next(1), expecting: ["I am gone"])
        try await stage.show(#"try await front.enter("Kim", password: "sesame")"#) {
            try await front.enter("Kim", password: "sesame")
        }
        try await stage.show(#"try await side.enter("Lea", password: "sesame")"#) {
            try await side.enter("Lea", password: "sesame")
        }
        try stage.show("the waitress heard", await waitressHeard.next(1), expecting: ["Lea came in"])
        try stage.show("the cook heard", await cookHeard.next(1), expecting: ["Lea came in"])
    }
}

/// Tells all of its delegates who came in, and those who failed to the ones that know the method.
private final class GuardedDoor: Door {
    private let all = Multicast<LoginDelegateProxy>()
    private let knowingFailures = Multicast<LoginDelegateProxy>()

    func add(_ delegate: any LoginDelegate) async throws -> Bool {
        all.add(delegate)
        let knowsFailures = try await LoginDelegateProxy(delegate).supports(.failed)
        if knowsFailures { knowingFailures.add(delegate) }
        return knowsFailures
    }

    func enter(_ name: String, password: String) async throws {
        if password == "sesame" {
            await all.proxy.loggedIn(name)
        } else {
            await knowingFailures.proxy.failed(name)
        }
    }
}

@MainActor
private final class DayPorter: LoginDelegate {
    private let notes: Notes<String>

    init(_ notes: Notes<String>) { self.notes = notes }

    deinit { notes.write("I am gone") }

    func loggedIn(_ name: String) { notes.write("\(name) came in") }
    func failed(_ name: String) { notes.write("\(name) failed") }
}

@MainActor
private final class DayWaitress: LoginDelegate {
    private let notes: Notes<String>

    init(_ notes: Notes<String>) { self.notes = notes }

    deinit { notes.write("I am gone") }

    func loggedIn(_ name: String) { notes.write("\(name) came in") }
}

private final class Cook: EarlierLoginDelegate {
    private let notes: Notes<String>

    init(_ notes: Notes<String>) { self.notes = notes }

    deinit { notes.write("I am gone") }

    func loggedIn(_ name: String) { notes.write("\(name) came in") }
}
