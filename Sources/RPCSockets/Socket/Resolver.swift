// Finds the addresses of names. The system's resolver blocks for seconds if a name server does not answer. So each question
// gets a short-lived thread of its own, and only so many run at a time.

import CSystem
import RPCWire

package final class Resolver: Sendable {
    /// The resolver of the process: it limits the threads of the process.
    package static let shared = Resolver(atMost: 8)

    private struct Questions {
        var running = 0
        var waiting: [@Sendable () -> Void] = []
    }

    typealias Answer = Result<[SocketAddress], SetupError>

    private let limit: Int
    private let lookUp: @Sendable (_ host: String, _ port: UInt16) -> Answer
    private let questions = Lock(Questions())

    /// - Parameter lookUp: finds the addresses of a name, and may block.
    init(atMost limit: Int, lookUp: @escaping @Sendable (String, UInt16) -> Answer = Resolver.askSystem) {
        (self.limit, self.lookUp) = (limit, lookUp)
    }

    /// Calls `answer` on the loop, and never before returning. Uses a thread only if there is a name to look up.
    /// - Parameter literally: whether an address that is written in numbers is itself the answer. Otherwise it is looked up as a
    ///   name is.
    func resolve(
        _ endpoint: SocketEndpoint, on loop: any Loop, literally: Bool = true,
        _ answer: @escaping @Sendable (Answer) -> Void
    ) {
        if literally, let address = Resolver.literal(endpoint) { return loop.submit { answer(.success([address])) } }
        let (host, port): (String, UInt16)
        switch endpoint {
        case .tcp(let name, let number): (host, port) = (name, number)
        case .unix(let path):
            return loop.submit { answer(.failure(SetupError("\(endpoint) \(SocketAddress.fault(ofLong: path))"))) }
        }
        let question: @Sendable () -> Void = { [self] in
            let result = lookUp(host, port)
            loop.submit { answer(result) }
            nextQuestion()
        }
        let mayRun = questions.withLock { questions in
            guard questions.running < limit else {
                questions.waiting.append(question)
                return false
            }
            questions.running += 1
            return true
        }
        if mayRun { run(question) }
    }

    /// The address of an endpoint that is numeric or a path; nil for a name.
    static func literal(_ endpoint: SocketEndpoint) -> SocketAddress? {
        switch endpoint {
        case .unix(let path): SocketAddress(path: path)
        case .tcp(let host, let port): SocketAddress(numericHost: host, port: port)
        }
    }

    private func run(_ question: @escaping @Sendable () -> Void) {
        do throws(SystemError) {
            try SystemThread.start(name: "rpc-resolver", question)
        } catch {
            // Look the name up here: a machine without threads is in worse trouble than a loop that waits for a name.
            question()
        }
    }

    private func nextQuestion() {
        let next = questions.withLock { questions -> (@Sendable () -> Void)? in
            if questions.waiting.isEmpty {
                questions.running -= 1
                return nil
            }
            return questions.waiting.removeFirst()
        }
        if let next { run(next) }
    }

    static func askSystem(_ host: String, _ port: UInt16) -> Answer {
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICSERV
        hints.ai_socktype = system_stream
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, String(port), &hints, &list)
        guard code == 0 else {
            // Any other failure may be one of the name server, and pass.
            let (endpoint, reason) = (SocketEndpoint.tcp(host: host, port: port), String(cString: gai_strerror(code)))
            return .failure(
                SetupError("\(endpoint): the name \"\(host)\" has no address: \(reason)", isLasting: code == EAI_NONAME)
            )
        }
        defer { freeaddrinfo(list) }
        var addresses: [SocketAddress] = []
        var entry = list
        while let found = entry?.pointee {
            if let address = SocketAddress(copying: found.ai_addr, length: found.ai_addrlen) {
                addresses.append(address)
            }
            entry = found.ai_next
        }
        return .success(addresses)
    }
}
