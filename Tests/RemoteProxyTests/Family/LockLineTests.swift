// The order of turns, event by event.

import Testing

@testable import RemoteProxy

@Suite struct `The line before a lock` {
    private typealias Line = LockLine<String>

    private func admitted(_ line: inout Line) -> [String] {
        var names: [String] = []
        while let place = line.next() { names.append(place.waiter) }
        return names
    }

    @Test func `the first goes in, the others follow one by one in their order`() {
        var line = Line()
        #expect(line.enter(.changing, by: 1) == .entered)
        for task in 2...4 {
            #expect(line.enter(.changing, by: task) == .mustWait)
            _ = line.join(.changing, by: task, "\(task)")
        }
        #expect(admitted(&line) == [])
        for task in 1...3 {
            line.leave(.changing, by: task)
            #expect(admitted(&line) == ["\(task + 1)"])
        }
        #expect(!line.isEmpty)
        line.leave(.changing, by: 4)
        #expect(line.isEmpty)
    }

    @Test func `readers go in together, a writer alone, and none overtakes it`() {
        var line = Line()
        #expect(line.enter(.reading, by: 1) == .entered)
        #expect(line.enter(.reading, by: 2) == .entered)
        #expect(line.enter(.changing, by: 3) == .mustWait)
        _ = line.join(.changing, by: 3, "writer")
        #expect(line.enter(.reading, by: 4) == .mustWait)
        _ = line.join(.reading, by: 4, "reader")
        _ = line.join(.reading, by: 5, "another")
        line.leave(.reading, by: 1)
        #expect(admitted(&line) == [])
        line.leave(.reading, by: 2)
        #expect(admitted(&line) == ["writer"])
        line.leave(.changing, by: 3)
        #expect(admitted(&line) == ["reader", "another"])
    }

    @Test func `a lock of two places has two inside, and who holds it is alone`() {
        var line = Line(places: 2)
        #expect(line.enter(.changing, by: 1) == .entered)
        #expect(line.enter(.changing, by: 2) == .entered)
        #expect(line.enter(.changing, by: 3) == .mustWait)
        #expect(line.enter(.changing, by: 2) == .isInside)
        _ = line.join(.changing, by: 3, "third")
        _ = line.join(.holding, by: Line.noTask, "holder")
        _ = line.join(.changing, by: 4, "fourth")
        line.leave(.changing, by: 2)
        #expect(admitted(&line) == ["third"])
        line.leave(.changing, by: 1)
        #expect(admitted(&line) == [], "the holder waits for both places, and nobody overtakes it")
        line.leave(.changing, by: 3)
        #expect(admitted(&line) == ["holder"])
        #expect(line.enter(.changing, by: 5) == .mustWait)
        line.leave(.holding, by: Line.noTask)
        #expect(admitted(&line) == ["fourth"])
        #expect(line.enter(.changing, by: 5) == .entered)
    }

    @Test func `a writer that gives up lets the readers behind it in`() {
        var line = Line()
        #expect(line.enter(.reading, by: 1) == .entered)
        let ticket = line.join(.changing, by: 2, "writer")
        _ = line.join(.reading, by: 3, "reader")
        #expect(admitted(&line) == [])
        line.withdraw(ticket)
        #expect(admitted(&line) == ["reader"])
        line.withdraw(ticket)
        line.leave(.reading, by: 1)
        line.leave(.reading, by: 3)
        #expect(line.isEmpty)
    }

    @Test func `a task that is inside may not wait for itself, but may read again`() {
        var line = Line()
        #expect(line.enter(.changing, by: 1) == .entered)
        #expect(line.enter(.changing, by: 1) == .isInside)
        #expect(line.enter(.reading, by: 1) == .isInside)
        line.leave(.changing, by: 1)
        #expect(line.enter(.reading, by: 1) == .entered)
        #expect(line.enter(.reading, by: 1) == .entered)
        #expect(line.enter(.holding, by: 1) == .isInside)
        line.leave(.reading, by: 1)
        line.leave(.reading, by: 1)
        #expect(line.enter(.holding, by: 1) == .entered)
        #expect(line.enter(.changing, by: 1) == .mustWait, "a holder is no task")
    }

    @Test func `a closed line takes no more, sends tasks away but not posts, and is empty when the last has left`() {
        var line = Line()
        #expect(line.enter(.changing, by: 1) == .entered)
        _ = line.join(.changing, by: 2, "goes")
        _ = line.join(.changing, by: Line.noTask, "stays")
        #expect(line.close() == ["goes"])
        #expect(line.enter(.changing, by: 4) == .isClosed)
        #expect(admitted(&line) == [])
        line.leave(.changing, by: 1)
        #expect(admitted(&line) == ["stays"])
        line.leave(.changing, by: Line.noTask)
        #expect(line.isEmpty)
    }

    @Test func `a long line keeps its order and its tickets`() {
        var line = Line()
        #expect(line.enter(.changing, by: 1) == .entered)
        let tickets = (0..<1_000).map { line.join(.changing, by: $0 + 2, "\($0)") }
        for index in stride(from: 1, to: 1_000, by: 2) { line.withdraw(tickets[index]) }
        var served: [String] = []
        var inside = 1
        while true {
            line.leave(.changing, by: inside)
            guard let place = line.next() else { break }
            served.append(place.waiter)
            inside = place.task
        }
        #expect(served == stride(from: 0, to: 1_000, by: 2).map { "\($0)" })
    }
}
