// What the bench says about one workload: its medians, its goals, and whether they are met. Printed as a line of JSON.

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

    /// The goals as a text; nil if there are none.
    var goal: String? {
        workload.goals.isEmpty ? nil : workload.goals.map(\.description).joined(separator: ", ")
    }

    /// Whether all goals are met; nil if there are none, or a figure is missing.
    var isMet: Bool? {
        let met = workload.goals.map { $0.isMet(by: figures) }
        return met.isEmpty || met.contains(nil) ? nil : !met.contains(false)
    }

    /// Texts that need escaping do not occur in it.
    var json: String {
        var members = [#""workload":"\#(workload.name)""#]
        if let unavailable { members.append(#""unavailable":"\#(unavailable)""#) }
        members += figures.names.map { #""\#($0)":\#(Number.short(figures[$0] ?? .nan))"# }
        if let goal { members.append(#""goal":"\#(goal)""#) }
        if let isMet { members.append(#""met":\#(isMet)"#) }
        return "{\(members.joined(separator: ","))}"
    }
}
