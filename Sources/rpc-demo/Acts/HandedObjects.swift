// Objects and closures as arguments and results: they stay at their end, and are called there.

import Protocols
import RemoteProxy
import Subjects

let handedObjectsAct = Act(
    "Handing objects around",
    """
    `func open(_ title: String) async throws -> any Book` returns an object. The book stays at the server, and the
    client gets a proxy for it. The server keeps the book open for as long as the client has a proxy.
    """
) { stage in
    try await stage.withServer(LibraryProxy(TownLibrary())) { _, _, client in
        let library: any Library = LibraryProxy(client)
        do {
            let book = try await stage.show(
                #"try await library.open("Emma")"#, as: { "a \(type(of: $0))" }, where: { $0 is BookProxy }
            ) {
                try await library.open("Emma")
            }
            let line = "Emma Woodhouse, handsome, clever, and rich,"
            try await stage.show("try await book.page(1)", expecting: line) { try await book.page(1) }

            stage.says("However often it is opened, it is one book:")
            try await stage.show(
                #"try await BookProxy(book).isIdentical(to: library.open("Emma"))"#, expecting: true
            ) {
                try await BookProxy(book).isIdentical(to: library.open("Emma"))
            }
            stage.says("Handed back to the server, it is that very book there:")
            try await stage.show(#"try await library.compare(book, library.open("Emma"))"#, expecting: true) {
                try await library.compare(book, library.open("Emma"))
            }
            try await stage.show(#"try await library.compare(book, library.open("Kim"))"#, expecting: false) {
                try await library.compare(book, library.open("Kim"))
            }
            stage.says("Kim was closed after that, since the client has no proxy for it any more. Emma is open:")
            try await stage.show("try await library.booksHeld()", expecting: 1) { try await library.booksHeld() }
            try await stage.show("try await book.title()", expecting: "Emma") { try await book.title() }
        }
        stage.says("The variable `book` is gone. There is nothing to call, the server knows:")
        try await stage.show("try await library.booksHeld()", expecting: 0) { try await library.booksHeld() }
    }
}

let progressAct = Act(
    "A download that says how far it has come",
    """
    A parameter may be a closure. `progress: @escaping @Sendable (Int) -> Void` stays in the client, and the server
    calls it there. It has no reply, so the server does not wait for it.
    """
) { stage in
    let transfer: any Transfer = TransferProxy(stage.client)
    let percent = Notes<Int>()
    let text = "report, part 1. report, part 2. report, part 3. report, part 4. "
    try await stage.show(#"try await transfer.download("report") { percent.write($0) }"#, expecting: text) {
        try await transfer.download("report") { percent.write($0) }
    }
    try stage.show("the closure was called with", await percent.next(4), expecting: [25, 50, 75, 100])
}
