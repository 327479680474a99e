// The weak stand-in for protocols that `@Service` does not take, conformed here as any user would: in another module.

import RPCWire
import RemoteProxy
import Testing

/// Generic, with a closure, not Sendable and for classes only: nothing for `@Service`.
private protocol ListCell: AnyObject {
    var title: String { get }
    func show<Item: CustomStringConvertible>(_ item: Item, done: () -> Void)
}

extension WeakReference: ListCell where Object: ListCell {
    var title: String { object?.title ?? "" }
    func show<Item: CustomStringConvertible>(_ item: Item, done: () -> Void) { object?.show(item, done: done) }
}

private final class Cell: ListCell {
    private(set) var shown: [String] = []
    var title: String { "cell" }

    func show<Item: CustomStringConvertible>(_ item: Item, done: () -> Void) {
        shown.append(item.description)
        done()
    }
}

/// Has no `weak` and no optional.
private final class Presenter {
    let cell: any ListCell

    init(cell: any ListCell) { self.cell = cell }
}

@Suite struct `Weak references` {
    @Test func `it stands in for its object until that is gone`() throws {
        var cell: Cell? = Cell()
        let presenter = Presenter(cell: WeakReference(try #require(cell)))
        var count = 0
        presenter.cell.show(1) { count += 1 }
        #expect(cell?.shown == ["1"])
        #expect(presenter.cell.title == "cell")
        cell = nil
        presenter.cell.show(2) { count += 1 }
        #expect(presenter.cell.title == "")
        #expect(count == 1)
    }

    @Test func `it gives the object, or nil`() throws {
        var cell: Cell? = Cell()
        let reference = WeakReference(try #require(cell))
        #expect(reference.object === cell)
        cell = nil
        #expect(reference.object == nil)
    }

    @Test func `it can be shared between tasks if its object can`() async throws {
        final class Shared: Sendable {}
        let object = Shared()
        let reference = WeakReference(object)
        let isThere = await Task.detached { reference.object != nil }.value
        #expect(isThere)
        withExtendedLifetime(object) {}
    }
}
