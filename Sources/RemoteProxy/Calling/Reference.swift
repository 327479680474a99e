// Objects as values: they travel by identity, where all other values travel as copies. A message knows the objects that its values
// name while they are written and read.

import JSONCodec
import RPCWire

/// An object of a service inside a `Codable` value that is sent.
///
/// ```swift
/// struct Favourites: Codable, Sendable {
///     let best: Reference<BookProxy>
/// }
///
/// let favourites = Favourites(best: Reference(book))
/// print(try await favourites.best.object.title())
/// ```
///
/// A parameter or a result needs no reference: it is spelled `any Book`, and also `(any Book)?`, `[any Book]` or
/// `[String: any Book]`.
///
/// The other end gets a proxy for the object, and sends the object itself back. Its end keeps the object for as long as a proxy
/// for it is there, at most until their session ends. It can only be coded as part of a call, a post or a result.
public struct Reference<Proxy: ServiceProxy>: Codable, Sendable {
    /// The object, or a proxy for it if it lives at another end.
    public let object: Proxy.ProxiedService

    /// A reference to an object of this process, or to one behind a proxy.
    public init(_ object: Proxy.ProxiedService) { self.object = object }

    /// - Throws: `RPCError` with the code `.noSuchObject` if the object is not there, or is one of another service. `DecodingError`
    ///   outside of a call.
    public init(from decoder: any Decoder) throws {
        guard let message = decoder.contextObject as? CodedMessage else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "a reference is only read as part of a call"))
        }
        object = try message.object(ObjectToken(from: decoder), as: Proxy.self)
    }

    /// - Throws: `RPCError` with the code `.busy` if the other end has too many objects of this one, and `.noSuchObject` if the
    ///   object is of a session that is over. `EncodingError` outside of a call.
    public func encode(to encoder: any Encoder) throws {
        guard let message = encoder.contextObject as? CodedMessage else {
            throw EncodingError.invalidValue(
                self,
                .init(codingPath: encoder.codingPath, debugDescription: "a reference is only sent as part of a call"))
        }
        try message.name(object, as: Proxy.self).encode(to: encoder)
    }
}

// MARK: in a message

/// A message and its answer as their values see them: the object of the `CodingContext`. Only its subclasses are made.
class CodedMessage {
    /// Keeps a call among its spare ones, so it is there for as long.
    private final unowned let maker: Requester?
    /// The objects that its values name while they are written; nil if they name none.
    final var named: NamedObjects?
    /// The session to whose objects a call goes; nil for any other message.
    final var target: SessionObjects?
    /// The objects that the answer lists; nil if it lists none.
    final var listed: NamedObjects?

    init(madeBy maker: Requester?) { self.maker = maker }

    /// Calls to the end that the message goes to, or came from; nil if it belongs to no session.
    var requester: Requester? { maker }
    /// The objects that the message lists which is being read; nil if it lists none.
    var arrived: NamedObjects? { listed }
    /// The session in which the message is written; nil if there is none.
    var session: SessionObjects? { maker?.link?.objects }
    /// Why it cannot name objects of this end; nil if it can.
    var refusal: RPCError? { nil }

    /// Names an object in the message.
    /// - Returns: how the values refer to it.
    /// - Throws: `RPCError` if the message or the session has too many objects, or if the object belongs to a session that is over.
    func name<Proxy: ServiceProxy>(_ object: Proxy.ProxiedService, as proxy: Proxy.Type) throws -> ObjectToken {
        guard let requester else { throw RPCError.objectGone }
        if let refusal { throw refusal }
        let session = session
        let named = named ?? NamedObjects()
        self.named = named
        guard named.all.count < requester.mostNamed else {
            throw tooMany(requester.mostNamed, "in a message", .maximumReferencesInMessage)
        }
        let own: ExportedObject
        if let subject = Proxy.subject(ofProxy: object) {
            if let remote = subject as? RemoteSubject<Proxy.ProxiedService>, remote.requester === requester,
                let reference = remote.reference
            {
                // Another session has other objects under the same handles.
                guard reference.session === session, !reference.session.isOver else { throw RPCError.objectGone }
                named.add(.theirs(reference))
                return ObjectToken(isOwn: false, handle: reference.handle, service: nil)
            }
            own = requester.ownObjects.object(of: Proxy(subject: subject))
        } else {
            own = requester.ownObjects.object(of: object, Proxy._methodTable.index)
        }
        let most = requester.mostReferences
        if let session, session.givenCount + named.all.count >= most,
            session.object(Int64(own.number)) == nil
        {
            throw tooMany(most, "in the session", .maximumReferences)
        }
        named.add(.own(own))
        return ObjectToken(isOwn: true, handle: Int64(own.number), service: own.index.service.name)
    }

    private func tooMany(_ most: Int, _ place: String, _ limit: Limit) -> RPCError {
        requester?.link?.overran(limit)
        return .tooManyObjects(most, place, limit)
    }

    /// The object that values of the message refer to.
    /// - Throws: `RPCError` with the code `.noSuchObject` if there is none of that handle and service.
    func object<Proxy: ServiceProxy>(_ token: ObjectToken, as proxy: Proxy.Type) throws -> Proxy.ProxiedService {
        let service = Proxy._methodTable.service.name
        if token.isOwn, let requester {
            let reference = try reference(token, of: service)
            return Proxy(subject: RemoteSubject(to: reference, of: service, through: requester)).asService
        }
        let own = arrived?.own(token.handle) ?? session?.unlistedOwn(token.handle)
        guard !token.isOwn, let object = own as? Exported<Proxy.ProxiedService> else {
            throw RPCError.noSuchObject(service, token.handle)
        }
        return object.service
    }

    /// The object of the other end that values of the message refer to.
    /// - Throws: as `object`.
    func reference(_ token: ObjectToken, of service: String) throws -> RemoteReference {
        if token.isOwn, token.service ?? service == service,
            let reference = arrived?.theirs(token.handle) ?? session?.unlisted(token.handle)
        {
            return reference
        }
        if arrived?.isIncomplete == true, let most = requester?.mostReferences {
            throw tooMany(most, "in the session", .maximumReferences)
        }
        throw RPCError.noSuchObject(service, token.handle)
    }
}

/// How the values of a message refer to an object.
struct ObjectToken: Codable {
    /// Whether it is an object of the sender.
    let isOwn: Bool
    let handle: Int64
    /// The service as which the sender gives it; nil for an object of the receiver, and from peers that do not say.
    let service: String?

    private enum CodingKeys: String, CodingKey {
        case kind = "__jsonrpc_marshaled"
        case handle
        case service
    }

    init(isOwn: Bool, handle: Int64, service: String?) {
        (self.isOwn, self.handle, self.service) = (isOwn, handle, service)
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let kind = try container.decode(Int.self, forKey: .kind)
        guard kind == 0 || kind == 1 else {
            throw DecodingError.dataCorruptedError(
                forKey: .kind, in: container, debugDescription: "it is neither 0 nor 1")
        }
        isOwn = kind == 1
        handle = try container.decode(Int64.self, forKey: .handle)
        service = try container.decodeIfPresent(String.self, forKey: .service)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(isOwn ? 1 : 0, forKey: .kind)
        try container.encode(handle, forKey: .handle)
        try container.encodeIfPresent(service, forKey: .service)
    }
}

// MARK: identity

extension Subject {
    /// The instance of a class or an actor at the end of this chain, if calls go to it and nothing else. For an object that another end
    /// has given by reference, its reference. Nil for any other subject.
    var instance: ObjectIdentifier? {
        if let local = self as? LocalSubject<Service> { return LocalSubject.instance(local.object) }
        return (self as? RemoteSubject<Service>)?.reference.map { ObjectIdentifier($0) }
    }

    /// The same also for a subject that refers to an instance weakly.
    var identity: ObjectIdentifier? { instance ?? (self as? any WeakSubject)?.target }

    /// Identifies the object at the end of the chain. Layers around the object make no difference. Nil if the object has no identity,
    /// or if the chain chooses among several objects.
    fileprivate var end: AnyHashable? {
        guard let last = layers.map({ $0 }).last else { return nil }
        if let identity = last.identity { return identity }
        guard let remote = last as? RemoteSubject<Service> else { return nil }
        return remote.remoteObject(nil)
    }
}

/// A subject that does not keep its object alive.
protocol WeakSubject {
    /// The instance, if it is still there.
    var target: ObjectIdentifier? { get }
}

extension ServiceProxy {
    /// Whether this proxy and the other one stand for the same object. That is the same instance of a class or an actor, or the same
    /// object at the same other end. Layers around either proxy make no difference. False for structs and enums, and for a
    /// proxy that chooses among several objects.
    public func isIdentical(to other: ProxiedService) -> Bool {
        guard let end = proxySubject.end else { return false }
        return end == Self.subject(of: other).end
    }
}
