// Writes what a closure among the parameters of a requirement is sent as: a service with one method.

/// Writes the shape of one closure.
struct ClosureExpansion {
    private let closure: ClosureSyntax
    private let type: TypeSyntax
    private let access: String
    private let title: String
    private let name: String

    /// Nil if the parameter is no closure.
    init?(_ parameter: ParameterSyntax, of requirement: Requirement, access: String) {
        guard case .closure(let closure) = parameter.type.shape, let name = requirement.closureName(parameter) else {
            return nil
        }
        (self.closure, type, self.access, self.name) = (closure, parameter.type, access, name)
        title = "The closure `\(parameter.name)` of `\(requirement.fullName)`."
    }

    /// The whole type.
    var source: SourceText {
        let kind = closure.isThrowing ? "Method<Closure, \(arguments), \(result)>" : "Post<Closure, \(arguments)>"
        let proxy = closure.isThrowing ? "" : "proxy: { RemoteProxy._ClosureProxy<Self>(subject: $0).asService }, "
        return """
            /// \(title)
            \(access)enum \(name): RemoteProxy._ClosureShape {
                \(access)typealias Closure = \(type.stored)

                private static let method = RemoteProxy.\(kind)(
                    "call", of: ._closure, \(proxy)coding: \(coding)
                ) { (closure: Closure, \(types.isEmpty ? "_" : "arguments"): \(arguments)) async\(effect) in
                    \(invocation)
                }

                \(access)static let _table = RemoteProxy._MethodTable<Closure>(._closure, [method])

                \(access)static func _closure(_ subject: any RemoteProxy.Subject<Closure>) -> Closure {
                    { \(forwarding) }
                }
            }
            """
    }

    private var types: [String] { (closure.parameters ?? []).map(\.spelling) }
    private var effect: String { closure.isThrowing ? " throws -> \(result)" : "" }
    private var result: String { closure.result?.spelling ?? "RemoteProxy._NoResult" }
    /// The names of the arguments in the forwarding closure.
    private var names: [String] { types.indices.map { "$\($0)" } }
    /// All names as one value.
    private var value: String { names.count == 1 ? names[0] : "(\(names.joined(separator: ", ")))" }
    /// The type of all arguments as one value.
    private var arguments: String {
        types.isEmpty ? "Swift.Void" : types.count == 1 ? types[0] : "(\(types.joined(separator: ", ")))"
    }

    private var coding: String {
        let type = "RemoteProxy._ArgumentCoding<\(arguments)>"
        if types.isEmpty { return "\(type).none" }
        let read = types.indices.map { "let a\($0): \(types[$0]) = try $0.next(); " }.joined()
        let all = types.indices.map { "a\($0)" }.joined(separator: ", ")
        let write = types.indices.map { "try $1.write($0\(types.count == 1 ? "" : ".\($0)"))" }.joined(separator: "; ")
        return "\(type)(read: { \(read)return \(types.count == 1 ? all : "(\(all))") }, write: { \(write) })"
    }

    private var invocation: [String] {
        let values = types.indices.map { types.count == 1 ? "arguments" : "arguments.\($0)" }.joined(separator: ", ")
        if !closure.isThrowing { return ["closure(\(values))"] }
        let call = "try await closure(\(values))"
        return closure.result == nil ? [call, "return RemoteProxy._NoResult()"] : ["return \(call)"]
    }

    private var forwarding: String {
        if closure.isThrowing {
            return "\(closure.result == nil ? "_ = " : "")try await method._call(subject, \(value))"
        }
        let head = types.isEmpty ? "" : "\(types.indices.map { "a\($0)" }.joined(separator: ", ")) in "
        let all = types.indices.map { "a\($0)" }.joined(separator: ", ")
        return "\(head)method._post(subject, \(types.count == 1 ? all : "(\(all))")) { $0(\(all)) }"
    }
}
