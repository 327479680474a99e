// The rules about order: a counter's numbers, and posts.

import RPCWire

extension HistoryCheck {
    /// Rule e, for calls that each add one to a counter that began at zero and has now reached `total`.
    package func faults(countingTo total: Int) -> [HistoryFault] {
        let results = calls.compactMap(\.result)
        var faults: [HistoryFault] = []
        func fault(_ what: String) { faults.append(HistoryFault(rule: .counted, what: what)) }
        let seen = results.reduce(into: [Int: Int]()) { $0[$1, default: 0] += 1 }
        for (result, count) in seen where count > 1 { fault("\(result) was answered \(count) times") }
        for result in seen.keys where !(1...max(total, 1)).contains(result) || total == 0 {
            fault("\(result) was answered, and the counter has reached \(total)")
        }
        // What is missing among the answers must have gone to calls that do not know what became of them.
        let unknown = calls.count { [.unknown, .executed(nil), nil].contains($0.endings.first?.ending) }
        let missing = total - seen.count
        if missing > unknown {
            fault("\(missing) numbers of \(total) reached nobody, and only \(unknown) calls have no number")
        }
        return faults + backward()
    }

    /// A call that began after another had ended got a greater number.
    private func backward() -> [HistoryFault] {
        var ends: [(at: Int64, result: Int, name: CallName)] = []
        for call in calls {
            guard let result = call.result, let end = call.endings.first else { continue }
            ends.append((end.at.nanoseconds, result, call.name))
        }
        ends.sort { $0.at < $1.at }
        var (next, highest) = (0, (result: Int.min, name: CallName(0, 0)))
        var faults: [HistoryFault] = []
        for call in calls.sorted(by: { $0.invoked < $1.invoked }) {
            while next < ends.count, ends[next].at < call.invoked.nanoseconds {
                if ends[next].result > highest.result { highest = (ends[next].result, ends[next].name) }
                next += 1
            }
            guard let result = call.result, result < highest.result else { continue }
            let what = "\(call.name) got \(result) after \(highest.name) had ended with \(highest.result)"
            faults.append(HistoryFault(rule: .counted, what: what))
        }
        return faults
    }

    /// Rule f.
    /// - Parameters:
    ///   - sent: how many posts each caller has made, numbered from 0.
    ///   - isComplete: every one of them must have come.
    package static func faults(posts: [PostSeen], sent: [Int: Int], isComplete: Bool = false) -> [HistoryFault] {
        Dictionary(grouping: posts, by: \.name.caller).flatMap { caller, posts in
            order(posts, sent: sent[caller] ?? 0)
        } + (isComplete ? missing(posts, sent: sent) : [])
    }

    private static func order(_ posts: [PostSeen], sent: Int) -> [HistoryFault] {
        var faults: [HistoryFault] = []
        func fault(_ what: String) { faults.append(HistoryFault(rule: .posted, what: what)) }
        for post in posts where !(0..<sent).contains(post.name.number) { fault("\(post.name) was never posted") }
        for (before, post) in zip(posts, posts.dropFirst()) {
            let step = post.name.number - before.name.number
            // Between two conversations posts may be lost, within one never.
            guard step < 1 || step > 1 && post.session == before.session else { continue }
            fault("\(post.name) came after number \(before.name.number)")
        }
        return faults
    }

    private static func missing(_ posts: [PostSeen], sent: [Int: Int]) -> [HistoryFault] {
        let came = posts.reduce(into: [Int: Int]()) { $0[$1.name.caller, default: 0] += 1 }
        return sent.filter { $0.value != came[$0.key] ?? 0 }.map { caller, count in
            HistoryFault(rule: .posted, what: "of caller \(caller)'s \(count) posts \(came[caller] ?? 0) came")
        }
    }
}
