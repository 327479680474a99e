// Signals as events on a loop, for programs that want to end in an orderly way. A library never touches signals.

import CSystem
import Synchronization

package enum ProcessSignal: Int32, Sendable, CaseIterable {
    /// What a supervisor sends to end a program.
    case terminate = 15
    /// Control-C.
    case interrupt = 2
    /// The terminal is gone; daemons read their configuration again.
    case hangUp = 1

    /// A write to a connection that is gone then fails instead of ending the process. Our own writes never need it;
    /// other libraries' may.
    package static func ignoreBrokenPipes() { _ = system_ignore_signal(SIGPIPE) }
}

/// Delivers signals to a handler on a loop until it is closed. The process has one table of signals, and this has one
/// pipe into it: only one source at a time may live.
package final class SignalSource: Sendable {
    private let loop: EventLoop
    private let signals: [ProcessSignal]
    private let reader: Int32
    private let handler: @Sendable (ProcessSignal) -> Void
    private let isClosed = Atomic(false)
    private let registration: LoopBound<Registration?>

    /// From the return on, none of the signals ends the process.
    package init(
        _ signals: [ProcessSignal], on loop: EventLoop, handler: @escaping @Sendable (ProcessSignal) -> Void
    ) throws(SystemError) {
        self.loop = loop
        self.signals = signals
        self.handler = handler
        let (reader, writer) = try SystemCall.pair("pipe", system_pipe)
        self.reader = reader
        registration = LoopBound(nil, of: loop)
        for signal in signals {
            try SystemCall.make("sigaction") { system_watch_signal(signal.rawValue, writer) }
        }
        SystemThread.heardSignals.bitwiseOr(heard, ordering: .relaxed)
        loop.submit { [self] in begin() }
    }

    /// Gives the signals back their usual meaning.
    package func close() {
        guard !isClosed.exchange(true, ordering: .relaxed) else { return }
        SystemThread.heardSignals.bitwiseAnd(~heard, ordering: .relaxed)
        for signal in signals { _ = system_default_signal(signal.rawValue) }
        loop.submit { [self] in end() }
    }

    /// The signals as `SystemThread` counts them.
    private var heard: UInt64 { signals.reduce(0) { $0 | 1 << UInt64($1.rawValue) } }

    private func begin() {
        guard !isClosed.load(ordering: .relaxed) else { return }
        // One thread at least must listen: this one, and each that may take the loop over from it.
        SystemThread.hearSignals()
        do throws(SystemError) {
            registration.value = try loop.register(self, reader, .reading)
        } catch {
            // Better a program that a signal ends at once than one that none can end.
            close()
        }
    }

    private func end() {
        if let registration = registration.value.take() { loop.deregister(registration) }
        // The writing end stays open: a handler that began before `close` may still be on its way to it.
        _ = CSystem.close(reader)
    }
}

extension SignalSource: Selectable {
    func ready(_: Readiness) {
        var number: UInt8 = 0
        while registration.value != nil, read(reader, &number, 1) == 1 {
            if let signal = ProcessSignal(rawValue: Int32(number)) { handler(signal) }
        }
    }

    func loopWillEnd() { close() }
}
