// What the other end of a connection has said it has, so that it is asked once. Part of the peer's locked state.

struct SupportedMethods {
    private var connection: Int?
    private var answers: [String: Bool] = [:]

    func answer(_ method: String, over connection: Int?) -> Bool? {
        connection == self.connection ? answers[method] : nil
    }

    /// Another connection may lead to another server: what was known is forgotten.
    mutating func note(_ answer: Bool, _ method: String, over connection: Int?) {
        guard let connection else { return }
        if connection != self.connection {
            self.connection = connection
            answers = [:]
        }
        answers[method] = answer
    }
}
