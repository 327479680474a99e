// All names, in the order in which `all` runs them.

extension Workload {
    static let all: [Workload] = [
<<<<<<< HEAD
        sequential, pipelined, pipelinedOnLoop, fanout, record, large, posts, idle, local, blocking, json, start, build,
=======
        sequential, sequentialAdaptive, pipelined, pipelinedOnLoop, pipelinedAdaptive, fanout, record, recordFull,
        large, posts, idle, local, blocking, json, start, build,
>>>>>>> c49d2cb (Benchmarks: measure a record with long fractions and nested values)
    ]
}
