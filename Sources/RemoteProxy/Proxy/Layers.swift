// The layers of a stack of subjects, from the outside in, for what looks for its own kind.

extension Subject {
    /// The outermost layer of a kind in this stack, itself included.
    func layer<Layer>(_ kind: Layer.Type) -> Layer? {
        for layer in layers { if let layer = layer as? Layer { return layer } }
        return nil
    }

    /// This subject and those inside it, for as far as they are there and there is one way to go on: it ends before an
    /// object that has yet to come, and at a choice of several. No stack is as deep as where it gives up: two late-bound
    /// proxies may have been bound to each other.
    var layers: PrefixSequence<UnfoldFirstSequence<any Subject<Service>>> {
        sequence(first: self as any Subject<Service>) { layer in
            if let layer = layer as? any WrappingSubject<Service> { return layer.next }
            return (layer as? any AwaitingSubject<Service>)?.arrived
        }.prefix(1_000)
    }
}
