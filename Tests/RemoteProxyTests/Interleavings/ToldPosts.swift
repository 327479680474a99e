// What the logs of a client and its server have told of lost posts, taken from their lines.

struct ToldPosts {
    /// They were not delivered.
    var unsent = 0
    /// They may or may not have been delivered.
    var unacknowledged = 0

    mutating func note(_ line: String) {
        // That a server has received it and did not run it.
        if line.hasPrefix("the post Probe.note failed") { return unacknowledged += 1 }
        let words = line.split(separator: " ")
        guard let count = words.first.flatMap({ Int($0) }), words.count > 6, words[1].hasPrefix("post") else { return }
        if words[2] == "that" {
            unacknowledged += count
        } else if words[4].hasPrefix("delivered") {
            unsent += count
            unacknowledged += Int(words[6]) ?? 0
        }
    }

    /// What is wrong with that, where so many posts have not run.
    func fault(missing: Int) -> String? {
        if missing < unsent { return "\(unsent) posts are said not to have been delivered, and \(missing) were not" }
        guard missing > unsent + unacknowledged else { return nil }
        return "\(missing) posts were not delivered, and \(unsent + unacknowledged) are told of"
    }
}
