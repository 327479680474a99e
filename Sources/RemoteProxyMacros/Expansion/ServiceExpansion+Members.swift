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
    var weakProxy: [String] {
        [
            "/// A proxy that does not keep its object alive. When the object is gone, calls throw `RPCError` with the",
            "/// code `.subjectGone` and posts vanish.",
        ]
            + SourceLines.block(
                "\(access)nonisolated static func weak(_ object: \(service) & Swift.AnyObject) -> Self",
                ["Self(subject: RemoteProxy.WeakSubject<\(service)>(object, of: object))"])
    }
}
