// One delegate for several screens, several delegates for one screen, and a delegate that goes away.

import RemoteProxy

struct LoginDelegates: Act {
    let title = "Delegates of a login screen"
    let story =
        "A screen tells its delegate what happens, and must not keep it. Delegates leave out what they do not care for."

    @MainActor
    func play(on stage: Stage) async throws {
        let waitress = Waitress()
        let (front, side, both) = try await playWithPorter(on: stage, waitress)

        stage.says("The porter has gone home. No screen kept him, and none has to know:")
        try await stage.show(#"front.enter("Kim", password: "sesame")"#) {
            front.enter("Kim", password: "sesame")
        }
        try await stage.show(#"side.enter("Lea", password: "sesame")"#) {
            side.enter("Lea", password: "sesame")
        }
        try stage.show("the waitress knows", waitress.guests, expecting: ["Joe", "Lea"])
        try stage.show("delegates at the side door", both.receiverCount ?? 0, expecting: 1)
    }

    /// What happens while the porter is there. He is kept by nobody but this function.
    @MainActor
    private func playWithPorter(
        on stage: Stage, _ waitress: Waitress
    ) async throws -> (front: LoginScreen, side: LoginScreen, both: LoginDelegateProxy) {
        let porter = Porter()

        stage.says("One delegate for two screens:")
        let delegate = LoginDelegateProxy.weak(porter)
        let front = LoginScreen(delegate: delegate)
        let back = LoginScreen(delegate: delegate)
        try await stage.show(#"front.enter("Ann", password: "sesame")"#) {
            front.enter("Ann", password: "sesame")
        }
        try await stage.show(#"back.enter("Bob", password: "open")"#) {
            back.enter("Bob", password: "open")
        }
        try stage.show("in the porter's book", porter.book, expecting: ["Ann came in", "Bob failed, attempt 1"])

        stage.says("Two delegates for one screen; the second has left out 'failed':")
        let both = LoginDelegateProxy.multicast([porter, waitress])
        let side = LoginScreen(delegate: both)
        try await stage.show(#"side.enter("Eve", password: "please")"#) {
            side.enter("Eve", password: "please")
        }
        try await stage.show(#"side.enter("Joe", password: "sesame")"#) {
            side.enter("Joe", password: "sesame")
        }
        try stage.show(
            "in the porter's book", Array(porter.book.suffix(2)), expecting: ["Eve failed, attempt 1", "Joe came in"])
        try stage.show("the waitress knows", waitress.guests, expecting: ["Joe"])
        return (front, side, both)
    }
}
