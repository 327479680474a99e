public import RemoteProxy

/// Lends books. Books and readers are sent by reference: each stays where it is, and is called there.
@Service(errors: LibraryFailure.self)
public protocol Library: Sendable {
    func titles() async throws -> [String]
    /// The book of that title, the same object while any caller holds it. Tells all readers. Throws `LibraryFailure.noSuchTitle`.
    func open(_ title: String) async throws -> any Book
    /// Whether both are one object.
    func compare(_ one: any Book, _ other: any Book) async throws -> Bool
    /// How many books are open: at least one caller holds each.
    func booksHeld() async throws -> Int
    /// Tells the reader of each book that is opened, until the session of the caller ends.
    func subscribe(_ reader: any LibraryReader) async throws
}

/// A book that is open.
@Service
public protocol Book: Sendable {
    func title() async throws -> String
    /// The text of a page. The first page has the number 1.
    func page(_ number: Int) async throws -> String
}

/// Someone who wants to know which books are opened.
@Service
public protocol LibraryReader: Sendable {
    func bookOpened(_ title: String)
}

/// Why there is no book.
public enum LibraryFailure: Error, Codable, Sendable, Hashable {
    case noSuchTitle(String)
}
