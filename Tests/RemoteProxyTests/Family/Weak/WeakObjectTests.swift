// Objects that are referred to weakly, as the service that they are.

import RPCSockets
import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

private protocol Named: Sendable { var name: String { get } }

/// Says when it goes.
private final class Person: Named {
    let name: String
    private let went: @Sendable () -> Void

    init(_ name: String, went: @escaping @Sendable () -> Void = {}) {
        self.name = name
        self.went = went
    }

    deinit { went() }
}

/// Asks for itself while it goes.
private final class Narcissus: Sendable {
    let image = Lock<WeakObject<Narcissus>?>(nil)
    private let seesItself: Flag

    init(_ seesItself: Flag) { self.seesItself = seesItself }

    deinit { if image.withLock({ try? $0?.value() }) != nil { seesItself.raise() } }
}

/// As generated code refers to an object.
private func weak<Object: AnyObject & Sendable>(_ object: Object) -> WeakObject<Object> {
    weak let object = object
    return WeakObject {
        guard let object else { throw _ObjectIsGone() }
        return object
    }
}

private func weak(named object: any Named & AnyObject) -> WeakObject<any Named> {
    weak let object = object
    return WeakObject {
        guard let object else { throw _ObjectIsGone() }
        return object
    }
}

@Suite struct `Weak objects` {
    @Test func `an object is there while something else keeps it, and is given back as what it was`() throws {
        var person: Person? = Person("Ada")
        let seen = weak(named: try #require(person))
        let plain = weak(try #require(person))
        #expect((try? seen.value()) as? Person === person)
        #expect((try? plain.value())?.name == "Ada")
        person = nil
        #expect((try? seen.value()) == nil)
        #expect((try? plain.value()) == nil)
    }

    @Test func `the object goes at once, whoever has asked for it before`() throws {
        let gone = Flag()
        var person: Person? = Person("Ada") { gone.raise() }
        let value = weak(named: try #require(person))
        for _ in 0..<3 { _ = (try? value.value())?.name }
        var taken = try? value.value()
        person = nil
        #expect(!gone.isRaised)
        #expect(taken?.name == "Ada")
        taken = nil
        #expect(gone.isRaised)
    }

    @Test func `a weak reference that goes first leaves its object alone`() throws {
        let gone = Flag()
        var person: Person? = Person("Ada") { gone.raise() }
        for _ in 0..<3 { _ = weak(try #require(person)) }
        #expect(!gone.isRaised)
        person = nil
        #expect(gone.isRaised)
    }

    @Test func `an object on its way is gone`() {
        let seesItself = Flag()
        var narcissus: Narcissus? = Narcissus(seesItself)
        narcissus.map { object in object.image.withLock { $0 = weak(object) } }
        #expect(narcissus?.image.withLock { try? $0?.value() } != nil)
        narcissus = nil
        #expect(!seesItself.isRaised)
    }

    @Test func `many threads ask while the object goes`() async throws {
        for _ in 0..<50 {
            let gone = Flag()
            var person: Person? = Person("Ada") { gone.raise() }
            let value = weak(named: try #require(person))
            await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        for _ in 0..<1_000 {
                            guard let there = try? value.value() else { return true }
                            if there.name != "Ada" { return false }
                        }
                        return true
                    }
                }
                person = nil
                for await isRight in group { #expect(isRight) }
            }
            #expect(gone.isRaised)
        }
    }
}
