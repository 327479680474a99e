// A subject around one that is not always there: lazy, late-bound, counted.

/// A subject whose next one comes later, and may go again.
protocol AwaitingSubject<Service>: EndSubject {
    /// The next subject inward, while it is there.
    var arrived: (any Subject<Service>)? { get }
}
