import CSystem
import Glibc
import RPCWire
import TestSupport
import Testing

@testable import RPCSockets

@Suite(.waitsForOthers) struct InterruptionTests {
    /// In a process of its own: the timer interrupts whatever runs.
    @Test func `a storm of signals interrupts no conversation`() async {
        await #expect(processExitsWith: .success) {
            var action = sigaction()
            action.__sigaction_handler.sa_handler = { _ in }
            sigaction(SIGALRM, &action, nil)
            let every = timeval(tv_sec: 0, tv_usec: 500)
            var timer = itimerval(it_interval: every, it_value: every)
            setitimer(__itimer_which_t(ITIMER_REAL.rawValue), &timer, nil)
            try await withLoop { loop in
                // The thread was started by one of Swift's pool, which block all signals.
                try await loop.perform { system_unblock_signal(SIGALRM) }
                let server = try await EchoServer(on: loop, bufferSize: 4_096)
                let stream = try await Connector.stream(to: server.endpoint, on: loop)
                let receiver = RecordingReceiver(on: loop)
                stream.open(receiver)
                for number in 0..<3_000 {
                    stream.send("\(number)")
                    if number % 100 == 0 {
                        let last = UInt8(ascii: "\n")
                        try await receiver.wait { $0.bytes.count { $0 == last } > number }
                    }
                }
                try await receiver.wait { $0.bytes.count { $0 == UInt8(ascii: "\n") } == 3_000 }
                let expected = (0..<3_000).map { "\($0)\n" }.joined()
                guard receiver.text == expected else { exit(1) }
            }
        }
    }
}
