// All scenarios, in the order in which they run.

extension Scenario {
    static let all: [Scenario] = [
        manyConnections, idleAndBusy, pipelinedBurst, overload, overloadByFew,
        overloadByLongCalls, overloadByShortCalls, overloadByShorterCalls, largeBesideSmall, slowReader,
        soak,
        comingAndGoing, callAndCancel,
    ]
}
