// What the bench says about one workload: its medians, its goal, and whether the goal is met. Printed as a line of JSON.

/// The result of one workload.
struct Report {
    let workload: Workload
    var figures: Figures
    /// Why there are no figures of ours.
    let unavailable: String?

    init(_ workload: Workload, _ figures: Figures, unavailable: String? = nil) {
        self.workload = workload
        self.figures = figures
        self.unavailable = unavailable
    }

    var isMet: Bool? { workload.goal?.isMet(by: figures) }

    /// Texts that need escaping do not occur in it.
    var json: String {
        var members = [#""workload":"\#(workload.name)""#]
        if let unavailable { members.append(#""unavailable":"\#(unavailable)""#) }
        members += figures.names.map { #""\#($0)":\#(Number.short(figures[$0] ?? .nan))"# }
        if let goal = workload.goal { members.append(#""goal":"\#(goal.description)""#) }
        if let isMet { members.append(#""met":\#(isMet)"#) }
        return "{\(members.joined(separator: ","))}"
    }
}
