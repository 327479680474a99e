// The other members of a proxy: the names of its methods, and how it refers to an object weakly.

extension ServiceExpansion {
    /// A type of the proxy's own, so that a method is named with a leading dot. Types are qualified, since the protocol
    /// may have others of that name.
    var methodNames: [String] {
        let names = model.requirements.map { requirement in
            ["/// `\(requirement.fullName)`."] + requirement.availability + [
                "\(access)static let \(requirement.entryName) = Self(name: \(SwiftName.literal(requirement.wireName)))"
            ]
        }
        let any = [
            "\(access)let name: Swift.String", "\(access)init(name: Swift.String) { self.name = name }",
        ]
        return [
            "/// The names of \(SwiftName.plain(model.name))'s methods, for code that names one without calling it."
        ]
            + SourceLines.block(
                "\(access)nonisolated struct MethodName: RemoteProxy.ServiceMethodName",
                SourceLines.paragraphs([any] + names))
    }

    /// A static function beside a requirement of that name is no conflict.
    var weakReferences: [[String]] {
        let weak = SourceLines.block(
            "\(access)nonisolated static func weak(_ object: \(service) & Swift.AnyObject) -> Self",
            weakly(around: ("Self(subject: RemoteProxy.WeakSubject<\(service)>(", "))")))
        // Asked of 'Any', since the compiler warns where it knows the answer.
        let reference = SourceLines.block(
            "\(access)nonisolated static func \(weakReference(to: service))",
            [
                "guard Swift.type(of: object as Any) is Swift.AnyClass,",
                "    let object = (object as Any) as? \(service) & Swift.AnyObject",
                "else { return nil }",
            ] + weakly(around: ("return ", "")))
        return [
            [
                "/// A proxy that does not keep its object alive. When the object is gone, calls throw `RPCError` with the",
                "/// code `.subjectGone` and posts vanish.",
            ] + weak,
            reference,
        ]
    }

    /// What gives an object back for as long as somebody else keeps it.
    private func weakly(around: (String, String)) -> [String] {
        [
            "\(around.0){ [weak object] () throws(RemoteProxy.ObjectIsGone) -> \(service) in",
            "    guard let object else { throw RemoteProxy.ObjectIsGone() }",
            "    return object",
            "}\(around.1)",
        ]
    }

    func weakReference(to service: String) -> String {
        "_weakReference(to object: \(service)) -> (@Sendable () throws(RemoteProxy.ObjectIsGone) -> \(service))?"
    }
}
