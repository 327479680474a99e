// The judge judged: a clean history breaks no rule, and each way of breaking one is caught by that rule and no other.

import RPCWire
import TestSupport
import Testing

@Suite struct `History` {
    private typealias Rule = HistoryFault.Rule

    /// Three callers who count to six between them, two calls each, the posts of two of them, and all that a fault can
    /// be made of.
    private struct Story {
        var calls: [CallRecord] = []
        var executions: [Execution] = []
        var posts: [PostSeen] = []
        var sent = [0: 3, 1: 3]
        var total = 6

        init() {
            for index in 0..<6 {
                let name = CallName(index % 3, index / 3)
                let began = Instant(nanoseconds: Int64(index) * 10)
                var call = CallRecord(name, invoked: began, deadline: began.advanced(by: .seconds(1)))
                call.endings = [(.executed(index + 1), began.advanced(by: .nanoseconds(5)))]
                calls.append(call)
                executions.append(Execution(name, result: index + 1))
                posts.append(PostSeen(CallName(index % 2, index / 2), session: "one"))
            }
        }

        var broken: Set<Rule> {
            let check = HistoryCheck(calls)
            let faults =
                check.faults(executions: executions) + check.faults(countingTo: total) + check.faultsInEnding()
                + HistoryCheck.faults(posts: posts, sent: sent, isComplete: true)
            return Set(faults.map(\.rule))
        }

        mutating func tell(_ ending: CallEnding, to index: Int) { calls[index].endings[0].ending = ending }
    }

    private func broken(_ change: (inout Story) -> Void) -> Set<Rule> {
        var story = Story()
        change(&story)
        return story.broken
    }

    @Test func `a clean history breaks no rule`() {
        #expect(broken { _ in } == [])
    }

    @Test func `who ran and was not told, and who never ran, may both be unknown`() {
        #expect(broken { $0.tell(.unknown, to: 3) } == [])
        let neverRan = broken { story in
            story.tell(.unknown, to: 5)
            story.executions.removeLast()
            story.total = 5
        }
        #expect(neverRan == [])
    }

    @Test func `a: an answered call that ran twice`() {
        #expect(broken { $0.executions.append($0.executions[2]) } == [.answered])
    }

    @Test func `a: an answered call that never ran`() {
        #expect(broken { $0.executions.remove(at: 2) } == [.answered])
    }

    @Test func `a: two answers changed places`() {
        let swapped = broken { story in
            // Side by side in time, so that nothing but the subject's own log can tell.
            story.calls[1].endings[0].at = story.calls[2].endings[0].at
            story.tell(.executed(3), to: 1)
            story.tell(.executed(2), to: 2)
        }
        #expect(swapped == [.answered])
    }

    @Test func `b: a call that is said not to have run and did`() {
        let lied = broken { story in
            story.tell(.notExecuted, to: 5)
            // The number it used up is nobody's; the counter is looked at without it.
            story.total = 5
        }
        #expect(lied == [.refused])
    }

    @Test func `c: a call without an answer that ran twice`() {
        let twice = broken { story in
            story.tell(.unknown, to: 5)
            story.executions.append(Execution(story.calls[5].name, result: 7))
        }
        #expect(twice == [.unknown])
    }

    @Test func `d: what nobody called`() {
        #expect(broken { $0.executions.append(Execution(CallName(9, 9), result: 7)) } == [.unasked])
    }

    @Test func `e: a number lost, a number twice, a number too many, and time running backward`() {
        #expect(broken { $0.total = 7 } == [.counted])
        #expect(broken { $0.total = 5 } == [.counted])
        func answering(_ results: [Int]) -> Set<Rule> {
            broken { story in
                for (index, result) in results.enumerated() {
                    story.tell(.executed(result), to: index)
                    story.executions[index] = Execution(story.calls[index].name, result: result)
                }
            }
        }
        #expect(answering([1, 2, 2, 4, 5, 6]) == [.counted])
        #expect(answering([1, 2, 3, 4, 6, 5]) == [.counted])
    }

    @Test func `f: posts out of order, doubled, left out, lost or made up`() {
        #expect(broken { $0.posts.swapAt(0, 2) } == [.posted])
        #expect(broken { $0.posts.append($0.posts[5]) } == [.posted])
        #expect(broken { $0.posts.remove(at: 2) } == [.posted])
        #expect(broken { $0.posts.removeLast() } == [.posted])
        #expect(broken { $0.sent[1] = 2 } == [.posted])
    }

    @Test func `f: between two conversations posts may be lost, but never within one`() {
        func faults(_ sessions: [String]) -> Int {
            let posts = zip([0, 1, 4], sessions).map { PostSeen(CallName(0, $0.0), session: $0.1) }
            return HistoryCheck.faults(posts: posts, sent: [0: 5]).count
        }
        #expect(faults(["one", "one", "two"]) == 0)
        #expect(faults(["one", "one", "one"]) == 1)
    }

    @Test func `g: a call that never ended, ended twice or too late`() {
        #expect(broken { $0.calls[5].endings = [] }.contains(.ended))
        #expect(broken { $0.calls[5].endings.append((.executed(6), $0.calls[5].invoked)) } == [.ended])
        #expect(broken { $0.calls[5].endings[0].at = Instant(nanoseconds: 2_000_000_000) } == [.ended])
    }

    @Test func `h: an object that is gone while another end has a proxy for it`() {
        func broken(_ events: ObjectEvent...) -> [Rule] { HistoryCheck.faults(objects: events).map(\.rule) }
        let held = ObjectEvent.held("Emma", inSession: 1)
        let letGo = ObjectEvent.letGo("Emma", inSession: 1)
        #expect(broken(held, .gone("Emma")) == [.reachable])
        #expect(broken(held, held, letGo, .gone("Emma")) == [.reachable])
        // Another session and another object have nothing to do with it.
        #expect(broken(held, .sessionEnded(2), .gone("Emma")) == [.reachable])
        #expect(broken(held, .letGo("Emma", inSession: 2), .gone("Emma")) == [.reachable])
        #expect(broken(held, .letGo("Maurice", inSession: 1), .gone("Emma")) == [.reachable])
        #expect(broken(held, .held("Emma", inSession: 2), .gone("Emma")) == [.reachable, .reachable])
        #expect(broken(held, letGo, .gone("Emma"), held, .gone("Emma")) == [.reachable])

        #expect(broken(held, letGo, .gone("Emma")) == [])
        #expect(broken(held, held, letGo, letGo, .gone("Emma"), held) == [])
        #expect(broken(held, .sessionEnded(1), .gone("Emma")) == [])
        // Who finds a proxy of a session that is over in an old answer holds nothing.
        #expect(broken(.sessionEnded(1), held, .gone("Emma")) == [])
        #expect(broken(held, .gone("Maurice")) == [])
    }
}
