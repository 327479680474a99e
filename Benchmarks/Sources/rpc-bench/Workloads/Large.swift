// A text there and back, one at a time: what a byte costs, of letters alone and of texts as people have them.

import RawEcho
import RemoteProxy
import SampleProtocols

/// What a large text is made of.
enum LargeText: String, CaseIterable {
    case letters, german, chinese, lines, source

    static let names = allCases.map(\.rawValue).joined(separator: ", ")

    /// As many whole pieces as fit into a mebibyte.
    var text: String { String(repeating: piece, count: 1_048_576 / piece.utf8.count) }

    private var piece: String {
        switch self {
        case .letters: "x"
        case .german: "Über die Brücke führt die Straße nach Süden, größer und schöner als früher. "
        case .chinese: "遠端代理把呼叫送到另一個行程，像呼叫本地物件一樣。"
        case .lines: "A line of a text as it stands in a letter, broken where the paper would end.\n"
        case .source: source
        }
    }

    /// Has about as many quotes, line ends and backslashes as Swift code has.
    private var source: String {
        #"""
            /// Writes the greeting of a guest, and returns how many letters it has.
            func greet(_ guest: String, in language: Language = .english) throws -> Int {
                guard !guest.isEmpty else { throw GreetingError.nobody }
                // Languages without a greeting of their own get the English one.
                let pattern = greetings[language] ?? "Good morning, %@!"
                let greeting = pattern.replacing("%@", with: guest)
                log.append("\(clock.now): \(greeting)")
                for listener in listeners where listener.isAwake {
                    listener.heard(greeting, from: self)
                }
                return greeting.count
            }


        """#
    }

    fileprivate var workload: Workload {
        Workload(
            name: self == .letters ? "large" : "large-\(rawValue)",
            summary: "a text of 1 MiB there and back, one at a time: \(rawValue)",
            goal: self == .letters ? Goal("ratio", .atLeast(0.4)) : nil, kind: .overSockets(.echoing { self.text }))
    }
}

extension Workload {
    /// All kinds of text, letters alone first.
    static let large = LargeText.allCases.map(\.workload)

    /// Those that are named; all of them if none is.
    static func large(_ names: [String]) throws(BenchFailure) -> [Workload] {
        var chosen: [Workload] = []
        for name in names {
            guard let text = LargeText(rawValue: name) else {
                throw BenchFailure("there is no text '\(name)', only \(LargeText.names)")
            }
            chosen.append(text.workload)
        }
        return chosen.isEmpty ? large : chosen
    }
}

extension OverSockets {
    /// `Echo.text` of so many bytes, one at a time.
    static func echoing(bytes: Int) -> OverSockets { echoing { String(repeating: "x", count: bytes) } }

    fileprivate static func echoing(_ text: @escaping @Sendable () -> String) -> OverSockets {
        OverSockets(
            baseline: RawBaseline(way: raw_blocking, message: Message.text(text().utf8.count)),
            comparison: .callsPerSecond
        ) { site in
            let echo: any Echo = EchoProxy(RPCClient(site.url))
            let text = text()
            let bytes = text.utf8.count
            return try await Callers(count: 1) { _, stint in
                while stint.goesOn() { try check(await echo.text(text).utf8.count == bytes) }
            }.measure(at: site)
        }
    }
}
