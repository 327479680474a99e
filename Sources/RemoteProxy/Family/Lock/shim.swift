// For the time until marks and posts for later are generated.

extension MethodSignature {
    enum Effect { case reads, changes }
    var effect: Effect { .changes }
}
extension Post {
    func kept(_ arguments: Arguments) -> KeptPosts<Service>.Delivery {
        let scope = CallScope.current.map { CallScope(caller: $0.caller) }
        return { subject in
            guard let local = subject as? LocalSubject<Service> else { return }
            await CallScope.$current.withValue(scope) { await self.deliver(local.object, arguments) }
        }
    }
}
