// Values that are objects which somebody else keeps.

import RPCSockets
import RPCWire
import RemoteProxy
import TestSupport
import Testing

private protocol Named: Sendable { var name: String { get } }

private protocol NamedObject: AnyObject, Sendable {}

/// Says when it goes.
private final class Person: Named, NamedObject {
    let name: String
    private let went: @Sendable () -> Void

    init(_ name: String, went: @escaping @Sendable () -> Void = {}) {
        self.name = name
        self.went = went
    }

    deinit { went() }
}

private actor Clerk: Named {
    nonisolated let name = "clerk"
}

private struct Label: Named { let name: String }

/// Asks for itself while it goes.
private final class Narcissus: Sendable {
    let image = Lock<WeakValue<Narcissus>?>(nil)
    private let seesItself: Flag

    init(_ seesItself: Flag) { self.seesItself = seesItself }

    deinit { if image.withLock({ $0?.isGone }) == false { seesItself.raise() } }
}

@Suite struct `Weak values` {
    @Test func `a value is there while somebody keeps its object, and is given back as what it was`() throws {
        var person: Person? = Person("Ada")
        let seen: WeakValue<any Named> = WeakValue(try #require(person), of: try #require(person))
        let plain = WeakValue(try #require(person), of: try #require(person))
        #expect(try seen.value() as? Person === person)
        #expect(try plain.value().name == "Ada")
        #expect(!seen.isGone)
        person = nil
        #expect(seen.isGone)
        #expect(throws: ObjectIsGone.self) { try seen.value() }
        #expect(throws: ObjectIsGone.self) { try plain.value() }
    }

    @Test func `the object goes at once, whoever has asked for it before`() throws {
        let gone = Flag()
        var person: Person? = Person("Ada") { gone.raise() }
        let value: WeakValue<any Named> = WeakValue(try #require(person), of: try #require(person))
        for _ in 0..<3 { _ = try value.value().name }
        var taken: (any Named)? = try value.value()
        person = nil
        #expect(!gone.isRaised)
        #expect(taken?.name == "Ada")
        taken = nil
        #expect(gone.isRaised)
    }

    @Test func `a weak value that goes first leaves its object alone`() throws {
        let gone = Flag()
        var person: Person? = Person("Ada") { gone.raise() }
        for _ in 0..<3 { _ = WeakValue(try #require(person), of: try #require(person)) }
        #expect(!gone.isRaised)
        person = nil
        #expect(gone.isRaised)
    }

    @Test func `only instances of classes are weak`() throws {
        let (person, clerk) = (Person("Ada"), Clerk())
        #expect(WeakValue<any Named>(Label(name: "x")) == nil)
        #expect(WeakValue(3) == nil)
        #expect(try WeakValue<any Named>(person)?.value() as? Person === person)
        #expect(try WeakValue<any Named>(clerk)?.value() as? Clerk === clerk)
        #expect(try WeakValue<any NamedObject>(person)?.value() === person)
        #expect(try WeakValue<any Sendable>(person)?.value() as? Person === person)
    }

    @Test func `a weak variable of the same object makes no difference`() throws {
        var person: Person? = Person("Ada")
        let before = WeakValue(try #require(person), of: try #require(person))
        weak let weakly = person
        let after = WeakValue(try #require(person), of: try #require(person))
        #expect(try before.value() === weakly)
        #expect(try after.value() === weakly)
        person = nil
        #expect(before.isGone && after.isGone && weakly == nil)
    }

    @Test func `an object on its way is gone`() {
        let seesItself = Flag()
        var narcissus: Narcissus? = Narcissus(seesItself)
        narcissus.map { object in object.image.withLock { $0 = WeakValue(object, of: object) } }
        #expect(narcissus?.image.withLock { $0?.isGone } == false)
        narcissus = nil
        #expect(!seesItself.isRaised)
    }

    @Test func `many threads ask while the object goes`() async throws {
        for _ in 0..<50 {
            let gone = Flag()
            var person: Person? = Person("Ada") { gone.raise() }
            let value: WeakValue<any Named> = WeakValue(try #require(person), of: try #require(person))
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
