// For those who wait on descriptors. On the loop.

extension EventLoop {
    func register(
        _ handler: any Selectable, _ descriptor: Int32, _ interest: Interest
    ) throws(SystemError) -> Registration {
        let registration = registrations.insert(handler, descriptor: descriptor)
        do throws(SystemError) {
            try selector.add(descriptor, interest, tag: registration.tag)
        } catch {
            registrations.remove(registration)
            throw error
        }
        if isEnding { submit { handler.loopWillEnd() } }
        return registration
    }

    func change(_ registration: Registration, _ interest: Interest) throws(SystemError) {
        try selector.change(registration.descriptor, interest, tag: registration.tag)
    }

    /// Before the descriptor is closed.
    func deregister(_ registration: Registration) {
        guard registrations[registration.tag] != nil else { return }
        selector.remove(registration.descriptor)
        registrations.remove(registration)
    }
}
