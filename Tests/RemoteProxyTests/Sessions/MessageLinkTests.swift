// Links over connections that carry whole messages: all that a session promises holds without a byte stream.

import RPCSockets
import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Suite struct `Links over messages` {
    private let loop = ManualLoop()
    private let probe: RecordingProbe
    private let exports = Exports()
    private let nearContext: LinkContext
    private let farContext: LinkContext
    private let client: Requester
    /// What the owner of the near channel was told.
    private let told = Lock<[String]>([])

    init() {
        probe = RecordingProbe(loop)
        exports.add(ProbeProxy(probe), named: nil)
        let runner = RequestRunner(loop: loop, handoff: loop)
        nearContext = LinkContext(runner: runner, exports: Exports())
        farContext = LinkContext(runner: runner, exports: exports, sessions: SessionTable())
        client = Requester(nearContext)
    }

    /// Connects the client by a new connection.
    @discardableResult
    private func connect(_ number: Int = 1) -> MemoryMessages {
        let (near, far) = (Link(nearContext, client), Link(farContext))
        let (nearEnd, farEnd) = MemoryMessages.pair(near, far)
        loop.pretend {
            far.open(farEnd, number: number)
            near.open(nearEnd, number: number) { [told] _, event in told.withLock { $0.append("\(event)") } }
        }
        loop.run()
        return nearEnd
    }

    private var remote: ProbeProxy {
        ProbeProxy(subject: RemoteSubject(requester: client, service: "Probe", object: nil, owner: nil))
    }

    @Test func `greet, call, and pass on what is thrown`() throws {
        connect()
        let answer = try loop.complete { [remote] in try await remote.echo(7) }
        #expect(answer == 7)
        let thrown = #expect(throws: ProbeFailure.self) { try loop.complete { [remote] in try await remote.fail(3) } }
        #expect(thrown == .asAsked(3))
        #expect(told.withLock { $0 } == ["ready(isResumed: false)"])
    }

    @Test func `go on with the session over the next connection, and nothing runs twice`() throws {
        let first = connect()
        let posts = 1...500
        loop.pretend { for number in posts { remote.note(number) } }
        let answer = Lock<Int?>(nil)
        let call = Task(executorPreference: loop) { [remote] in
            let number = try await remote.wait(9, milliseconds: 1_000)
            answer.withLock { $0 = number }
        }
        loop.advance(by: .milliseconds(500))
        first.abort()
        loop.run()
        connect(2)
        loop.advance(by: .seconds(1))
        #expect(answer.withLock { $0 } == 9)
        #expect(probe.noted == Array(posts))
        #expect(probe.executed == [9])
        #expect(told.withLock { $0.last } == "ready(isResumed: true)")
        call.cancel()
    }

    @Test func `end their session in good order`() throws {
        let channel = connect()
        let link = try #require(client.link)
        #expect(farContext.sessions?.count == 1)
        client.end(because: "closed", with: channel)
        loop.advance(by: .seconds(1))
        #expect(farContext.sessions?.count == 0)
        #expect(loop.pretend { link.half.life.isOver && link.connection == nil })
    }
}
