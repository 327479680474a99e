// Growth as a picture: a column for each axis, above what gets through and below what a call takes of the processors, all
// scales logarithmic, ours and plain sockets as lines. It has a paper of its own, so that it can be read on a dark page too.

struct GrowthPlot {
    let curves: [GrowthCurve]

    private static let panel = (width: 300.0, height: 250.0, left: 58.0, right: 282.0, top: 34.0, bottom: 210.0)
    private static let head = 40.0
    private static let lines = [("raw_", "peru", "plain sockets"), ("", "steelblue", "RemoteProxy")]

    var svg: String {
        let width = Self.panel.width * Double(curves.count)
        let height = Self.head + Self.panel.height * Double(GrowthMeasure.allCases.count)
        let opening = [
            #"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \#(width) \#(height)" "#
                + #"font-family="Helvetica, Arial, sans-serif" font-size="11">"#,
            #"<rect width="\#(width)" height="\#(height)" rx="12" fill="whitesmoke"/>"#,
        ]
        let panels = curves.enumerated().flatMap { column, curve in
            GrowthMeasure.allCases.enumerated().flatMap { row, measure in
                let (x, y) = (Double(column) * Self.panel.width, Self.head + Double(row) * Self.panel.height)
                return [#"<g transform="translate(\#(x) \#(y))">"#] + panel(curve, measure) + ["</g>"]
            }
        }
        return (opening + legend + panels + ["</svg>", ""]).joined(separator: "\n")
    }

    private var legend: [String] {
        Self.lines.enumerated().flatMap { index, line in
            let x = Self.panel.left + 110 * Double(index)
            return [
                #"<path d="M\#(x) 24 h18" stroke="\#(line.1)" stroke-width="2.5"/>"#,
                #"<text x="\#(x + 24)" y="28" fill="black">\#(line.2)</text>"#,
            ]
        }
    }

    private func panel(_ curve: GrowthCurve, _ measure: GrowthMeasure) -> [String] {
        let panel = Self.panel
        let growth = curve.growth
        let values = Self.lines.flatMap { curve.line(measure, prefix: $0.0).map(\.value) }.filter { $0 > 0 }
        let across = LogAxis(growth.sizes.map(Double.init), start: panel.left, end: panel.right)
        let up = LogAxis(
            [LogAxis.round(values.min() ?? 1, up: false), LogAxis.round(values.max() ?? 1, up: true)],
            start: panel.bottom, end: panel.top)
        let title = #"<text x="\#(panel.left)" y="20" font-size="12">\#(measure.title(of: growth))</text>"#
        let foot =
            #"<text x="\#(panel.right)" y="\#(panel.bottom + 32)" text-anchor="end">\#(growth.name)</text>"#
        return [title, foot] + grid(growth, across, up)
            + Self.lines.flatMap { line(curve.line(measure, prefix: $0.0), $0.1, across, up) }
    }

    private func grid(_ growth: Growth, _ across: LogAxis, _ up: LogAxis) -> [String] {
        let panel = Self.panel
        let rows = up.marks.flatMap { mark in
            let y = up.position(mark)
            return [
                #"<path d="M\#(panel.left) \#(y) H\#(panel.right)" stroke="lightgray"/>"#,
                #"<text x="\#(panel.left - 6)" y="\#(y + 4)" text-anchor="end">\#(Self.label(mark))</text>"#,
            ]
        }
        let columns = growth.marks.flatMap { mark in
            let x = across.position(Double(mark))
            let text = growth.isInBytes ? Self.bytes(mark) : Number.grouped(Double(mark))
            return [
                #"<path d="M\#(x) \#(panel.top) V\#(panel.bottom)" stroke="gainsboro"/>"#,
                #"<text x="\#(x)" y="\#(panel.bottom + 16)" text-anchor="middle">\#(text)</text>"#,
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
