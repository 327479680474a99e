// Growth as a picture: a panel for each axis, both scales logarithmic, ours and plain sockets as lines. It has a paper of its
// own, so that it can be read on a dark page too.

struct GrowthPlot {
    let curves: [GrowthCurve]

    private static let panel = (width: 300.0, left: 58.0, right: 282.0, top: 66.0, bottom: 250.0)
    private static let lines = [
        ("raw_calls_per_s", "peru", "plain sockets"), ("calls_per_s", "steelblue", "RemoteProxy"),
    ]

    var svg: String {
        let width = Self.panel.width * Double(curves.count)
        let head = [
            #"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \#(width) 300" "#
                + #"font-family="Helvetica, Arial, sans-serif" font-size="11">"#,
            #"<rect width="\#(width)" height="300" rx="12" fill="whitesmoke"/>"#,
        ]
        let panels = curves.enumerated().flatMap { index, curve in
            [#"<g transform="translate(\#(Double(index) * Self.panel.width) 0)">"#] + panel(curve) + ["</g>"]
        }
        return (head + panels + ["</svg>", ""]).joined(separator: "\n")
    }

    private func panel(_ curve: GrowthCurve) -> [String] {
        let panel = Self.panel
        let growth = curve.growth
        let values = Self.lines.flatMap { curve.line($0.0).map(\.value) }.filter { $0 > 0 }
        let across = LogAxis(growth.sizes.map(Double.init), start: panel.left, end: panel.right)
        let up = LogAxis(
            [LogAxis.round(values.min() ?? 1, up: false), LogAxis.round(values.max() ?? 1, up: true)],
            start: panel.bottom, end: panel.top)
        let title =
            growth.isInBytes ? "bytes a second each way, by bytes of a text" : "calls a second, by \(growth.name)"
        return [#"<text x="\#(panel.left)" y="24" font-size="13" fill="black">\#(title)</text>"#]
            + grid(growth, across, up)
            + Self.lines.enumerated().flatMap { index, line in
                let x = panel.left + 110 * Double(index)
                return [
                    #"<path d="M\#(x) 42 h18" stroke="\#(line.1)" stroke-width="2.5"/>"#,
                    #"<text x="\#(x + 24)" y="46" fill="\#(line.1)">\#(line.2)</text>"#,
                ] + self.line(curve.line(line.0), line.1, across, up)
            }
    }

    private func grid(_ growth: Growth, _ across: LogAxis, _ up: LogAxis) -> [String] {
        let panel = Self.panel
        let rows = up.marks.flatMap { mark in
            let y = up.position(mark)
            return [
                #"<path d="M\#(panel.left) \#(y) H\#(panel.right)" stroke="lightgray"/>"#,
                #"<text x="\#(panel.left - 6)" y="\#(y + 4)" text-anchor="end" fill="black">\#(Self.label(mark))</text>"#,
            ]
        }
        let columns = growth.marks.flatMap { mark in
            let x = across.position(Double(mark))
            let text = growth.isInBytes ? Self.bytes(mark) : Number.grouped(Double(mark))
            return [
                #"<path d="M\#(x) \#(panel.top) V\#(panel.bottom)" stroke="gainsboro"/>"#,
                #"<text x="\#(x)" y="\#(panel.bottom + 18)" text-anchor="middle" fill="black">\#(text)</text>"#,
            ]
        }
        return rows + columns
    }

    private func line(
        _ points: [(size: Int, value: Double)], _ color: String, _ across: LogAxis, _ up: LogAxis
    ) -> [String] {
        let places = points.filter { $0.value > 0 }.map { (across.position(Double($0.size)), up.position($0.value)) }
        let path = places.map { "\($0.0),\($0.1)" }.joined(separator: " ")
        return [#"<polyline points="\#(path)" fill="none" stroke="\#(color)" stroke-width="2"/>"#]
            + places.map { #"<circle cx="\#($0.0)" cy="\#($0.1)" r="2.5" fill="\#(color)"/>"# }
    }

    private static func label(_ value: Double) -> String {
        switch value {
        case 1e9...: "\(Number.short(value / 1e9)) G"
        case 1e6...: "\(Number.short(value / 1e6)) M"
        case 1e3...: "\(Number.short(value / 1e3)) k"
        default: Number.short(value)
        }
    }

    private static func bytes(_ size: Int) -> String {
        switch size {
        case 1_048_576...: "\(size / 1_048_576) MiB"
        case 1_024...: "\(size / 1_024) KiB"
        default: "\(size) B"
        }
    }
}
