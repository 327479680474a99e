// What a call inherits from the call it is made in: the deadline, and who is calling. One task-local for both, since
// every request pays for setting it.

package import RPCWire

package struct CallScope: Sendable {
    package var deadline: Instant?
    package var caller: Caller?

    @TaskLocal package static var current: CallScope?

    package init(deadline: Instant? = nil, caller: Caller? = nil) {
        self.deadline = deadline
        self.caller = caller
    }
}
