// Numbers as people and programs like to read them: no more digits than mean something.

enum Number {
    /// Whole from 1,000 up, else with at most three decimals, fewer as it grows.
    static func short(_ value: Double) -> String {
        guard value.isFinite else { return "null" }
        let factor: Double =
            switch abs(value) {
            case 1_000...: 1
            case 100...: 10
            case 10...: 100
            default: 1_000
            }
        let rounded = (value * factor).rounded() / factor
        return rounded == rounded.rounded() ? "\(Int(rounded))" : "\(rounded)"
    }

    /// With a comma after each thousand.
    static func grouped(_ value: Double) -> String {
        guard abs(value) >= 1_000 else { return short(value) }
        let digits = Array("\(Int(abs(value).rounded()))")
        var text = value < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { text += "," }
            text.append(digit)
        }
        return text
    }
}
