// One axis of a plot on which equal steps multiply: where a value stands, and which round values are worth a label.

import Glibc

struct LogAxis {
    private let low: Double
    private let high: Double
    private let start: Double
    private let end: Double

    /// From `start` to `end` on the paper, for all of the values.
    init(_ values: [Double], start: Double, end: Double) {
        let positive = values.filter { $0 > 0 }
        low = positive.min() ?? 1
        // One value alone still needs an axis.
        high = max(positive.max() ?? 1, low * 1.001)
        self.start = start
        self.end = end
    }

    func position(_ value: Double) -> Double {
        let place = start + (end - start) * log(value / low) / log(high / low)
        return (place * 10).rounded() / 10
    }

    /// The least round number that is not below a value, or the greatest that is not above.
    static func round(_ value: Double, up: Bool) -> Double {
        let decade = pow(10, floor(log10(value)))
        let steps = [1, 2, 5, 10].map { $0 * decade }
        return (up ? steps.first { $0 >= value * 0.999 } : steps.last { $0 <= value * 1.001 }) ?? value
    }

    /// Powers of ten, and 2 and 5 times them where there would be few.
    var marks: [Double] {
        let decades = Int(floor(log10(low)))...Int(ceil(log10(high)))
        let factors: [Double] = high / low > 200 ? [1] : [1, 2, 5]
        return decades.flatMap { decade in factors.map { $0 * pow(10, Double(decade)) } }
            .filter { $0 >= low * 0.999 && $0 <= high * 1.001 }
    }
}
