// What has come is told from what has not, and the other end hears of it in time.

import RPCWire
import Testing

@Suite struct `What has come` {
    /// New, in progress, answered, acknowledged: to this table all but the first are one, and never run.
    @Test(
        arguments: [
            (1, true), (4, false), (5, false), (6, true), (.max, true), (0, false), (-1, false), (.min, false),
        ] as [(Int64, Bool)])
    func `only a number above all before is new`(_ number: Int64, isNew: Bool) {
        var receipts = Receipts()
        let isFirst = number == 1 || receipts.request(5, isPost: false, bytes: 0)
        #expect(isFirst)
        #expect(receipts.request(number, isPost: false, bytes: 0) == isNew)
        #expect(receipts.request(number, isPost: true, bytes: 0) == false)
        #expect(receipts.requests == (isNew ? number : 5))
    }

    @Test func `calls are reported by their answers and need no other report`() {
        var receipts = Receipts()
        for number in 1...1_000 { _ = receipts.request(Int64(number), isPost: false, bytes: 1_000) }
        #expect(receipts.report == .notYet)
    }

    @Test func `answers are reported along with what is sent next`() {
        var receipts = Receipts()
        for _ in 1..<Receipts.interval {
            receipts.reply(bytes: 10)
            #expect(receipts.report == .notYet)
        }
        receipts.reply(bytes: 10)
        #expect(receipts.report == .along)
        #expect(receipts.replies == Int64(Receipts.interval))
        receipts.reported()
        #expect(receipts.report == .notYet)
        #expect(receipts.replies == Int64(Receipts.interval))
    }

    @Test func `posts that were reported do not hurry the report of answers`() {
        var receipts = Receipts()
        for number in 1...Receipts.interval { _ = receipts.request(Int64(number), isPost: true, bytes: 10) }
        #expect(receipts.report == .atOnce)
        receipts.reported()
        for _ in 1...Receipts.interval { receipts.reply(bytes: 10) }
        #expect(receipts.report == .along)
    }

    @Test func `posts and big answers are reported even if nothing else is to be sent`() {
        var posts = Receipts()
        for number in 1...Receipts.interval { _ = posts.request(Int64(number), isPost: true, bytes: 10) }
        #expect(posts.report == .atOnce)
        var big = Receipts()
        big.reply(bytes: Receipts.byteInterval)
        #expect(big.report == .atOnce)
        big.reported()
        #expect(big.report == .notYet)
    }

    @Test func `transfers come one after another, and each is reported though no answer does it`() {
        var receipts = Receipts()
        let answers = [2, 1, 1, 0, 3].map { receipts.transfer($0, bytes: 1) }
        #expect(answers == [nil, true, false, false, nil])
        for number in 2...Int64(Receipts.interval) { #expect(receipts.transfer(number, bytes: 1) == true) }
        #expect(receipts.report == .atOnce && receipts.transfers == Int64(Receipts.interval) && receipts.requests == 0)
    }
}
