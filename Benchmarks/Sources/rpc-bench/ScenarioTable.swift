// All scenarios, in the order in which they run.

extension Scenario {
    static let all: [Scenario] = [
        manyConnections, idleAndBusy, pipelinedBurst, overload, overloadByFew, overloadByOne,
        overloadByLongCalls, overloadByShortCalls, overloadByShorterCalls, overloadTold, largeBesideSmall, slowReader,
        soak,
        comingAndGoing, callAndCancel,
    ]
}
