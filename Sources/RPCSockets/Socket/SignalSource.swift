// Delivers signals as events on a loop, for programs that end in an orderly way. A library must never handle signals.

import CSystem
import Synchronization

package enum ProcessSignal: Int32, Sendable, CaseIterable {
    /// A supervisor sends it to end a program.
    case terminate = 15
    /// Control-C.
    case interrupt = 2
    /// The terminal is gone. Daemons read their configuration again.
    case hangUp = 1

    /// Lets a write to a connection that is gone fail, instead of ending the process. This library's writes never need that;
    /// those of other libraries may.
    package static func ignoreBrokenPipes() { _ = system_ignore_signal(SIGPIPE) }
}

/// Delivers signals to a handler on a loop until it is closed. Only one source may live at a time, because the process has one
/// table of signals, and all sources share one variable for their pipe.
package final class SignalSource: Sendable {
    private let loop: EventLoop
    private let signals: [ProcessSignal]
    private let reader: Int32
    private let handler: @Sendable (ProcessSignal) -> Void
    private let isClosed = Atomic(false)
    private let registration: LoopBound<Registration?>

    /// Begins to deliver. Once this has returned, none of the signals ends the process.
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

    /// Gives the signals their usual meaning again.
    package func close() {
        guard !isClosed.exchange(true, ordering: .relaxed) else { return }
        SystemThread.heardSignals.bitwiseAnd(~heard, ordering: .relaxed)
        for signal in signals { _ = system_default_signal(signal.rawValue) }
        loop.submit { [self] in end() }
    }

    /// The signals as bits, as in `SystemThread.heardSignals`.
    private var heard: UInt64 { signals.reduce(0) { $0 | 1 << UInt64($1.rawValue) } }

    private func begin() {
        guard !isClosed.load(ordering: .relaxed) else { return }
        // At least one thread must let the signals through: this one, and each that may take the loop over from it.
        SystemThread.hearSignals()
        do throws(SystemError) {
            registration.value = try loop.register(self, reader, .reading)
        } catch {
            // Without a registration no signal could end the program. It is better that each signal ends it at once.
            close()
        }
    }

    private func end() {
        if let registration = registration.value.take() { loop.deregister(registration) }
        // The writing end stays open: a signal handler that began before `close` may still write to it.
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
