// A post that waits, with its arguments.

extension Post {
    /// The post with its arguments, to be delivered later through any subject, on behalf of the present caller.
    func kept(_ arguments: Arguments) -> KeptPosts<Service>.Delivery {
        let scope = CallScope.current?.later
        return { subject in
            await CallScope.with(scope) { await self(through: subject, arguments) }
        }
    }
}
