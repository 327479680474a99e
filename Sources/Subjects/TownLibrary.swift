// A library whose books are objects of their own.

package import Protocols
import RemoteProxy
import Synchronization

/// Keeps no book open by itself: a book lasts for as long as a caller holds it. Readers are told until their sessions end.
package final class TownLibrary: Library {
    private static let texts = [
        "Emma": [
            "Emma Woodhouse, handsome, clever, and rich,", "seemed to unite some of the best blessings of existence",
        ],
        "Kim": ["He sat, in defiance of municipal orders,", "astride the gun Zam-Zammah"],
        "Persuasion": ["Sir Walter Elliot, of Kellynch Hall,", "was a man who took up any book but the Baronetage"],
    ]

    /// The open books by their titles. One that is closed stays in the list until it is opened again.
    private let open = Mutex<[String: WeakReference<OpenBook>]>([:])
    private let readers = Multicast<LibraryReaderProxy>()

    /// A library in which no book is open.
    package init() {}

    package func titles() async throws -> [String] { Self.texts.keys.sorted() }

    package func open(_ title: String) async throws -> any Book {
        guard let pages = Self.texts[title] else { throw LibraryFailure.noSuchTitle(title) }
        let book = open.withLock { open in
            if let known = open[title]?.object { return known }
            let book = OpenBook(title, pages)
            open[title] = WeakReference(book)
            return book
        }
        readers.proxy.bookOpened(title)
        return book
    }

    package func compare(_ one: any Book, _ other: any Book) async throws -> Bool {
        BookProxy(one).isIdentical(to: other)
    }

    package func booksHeld() async throws -> Int { open.withLock { $0.values.count { $0.object != nil } } }

    package func subscribe(_ reader: any LibraryReader) async throws { readers.add(reader) }
}

private final class OpenBook: Book {
    private let name: String
    private let pages: [String]

    init(_ name: String, _ pages: [String]) { (self.name, self.pages) = (name, pages) }

    func title() async throws -> String { name }

    func page(_ number: Int) async throws -> String {
        pages.indices.contains(number - 1) ? pages[number - 1] : "This page is empty."
    }
}
