// All names, in the order in which `all` runs them.

extension Workload {
    static let all: [Workload] =
        [sequential, pipelined, pipelinedOnLoop, fanout, record, recordFull] + large
        + [posts, callback, manyObjects, references, idle, local, blocking, json, start, build]
}
