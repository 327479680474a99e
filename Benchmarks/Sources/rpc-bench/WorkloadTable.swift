// All names, in the order in which `all` runs them.

extension Workload {
    static let all: [Workload] = [
        sequential, sequentialAdaptive, pipelined, pipelinedOnLoop, pipelinedAdaptive, fanout, record, large,
        posts, idle, local, blocking, json, start, build,
    ]
}
