// Objects handed out, passed on, dropped and called in random order, while connections break at any byte, calls are cancelled and
// servers restart. Then everything is let go, and nothing may be left. Both ends note what they get, let go of and lose: no object may
// have gone while the other end could reach it.

import RPCSockets
import RPCWire
import TestSupport

@testable import RemoteProxy

/// One story, told by its seed. `@unchecked Sendable`: touched on the thread that plays it only.
final class ReferenceStory: @unchecked Sendable {
    private struct Held {
        let volume: Reference<VolumeProxy>
        let title: String
        /// The sessions that there had been when it came.
        let epoch: Int
    }

    private let network = SimulatedNetwork()
    private let history: ObjectHistory
    private let shop: CornerBookshop
    private let readers: Census
    private let client: RPCClient
    private let proxy: BookshopProxy
    private var random: SeededRandom
    private var held: [Held] = []
    private var reader: KeenReader?
    private var tasks: [Task<Void, Never>] = []
    /// How many servers there have been. Of each there was one session, which has that number in the history.
    private var epoch = 0
    private var lastReader = 0
    private(set) var steps = 0
    /// What has happened, in words.
    private(set) var trace: [String] = []
    private let found = Lock<[Held]>([])
    private let faults = Lock<[String]>([])

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
        let history = ObjectHistory()
        self.history = history
        readers = Census(history)
        shop = CornerBookshop(history) { parcel, isHeld in
            guard let name = parcel.nameOfReader, let session = parcel.session, parcel.reader != nil else { return }
            history.note(isHeld ? .held(name, inSession: session) : .letGo(name, inSession: session))
        }
        network.exports.add(BookshopProxy(shop), named: nil)
        client = network.client()
        proxy = BookshopProxy(client)
    }

    func play() -> [String] {
        for _ in 0..<Int.random(in: 10...60, using: &random) {
            act()
            for _ in 0..<Int.random(in: 0...12, using: &random) where network.loop.step() { steps += 1 }
            collect()
        }
        end()
        return faults.withLock { $0 } + HistoryCheck.faults(objects: history.events).map { "\($0)" }
    }

    private func letGo(_ volumes: [Held]) {
        history.note(volumes.map { .letGo("volume \($0.title)", inSession: $0.epoch) })
    }

    private func note(_ fault: String) { faults.withLock { $0.append(fault) } }

    private func collect() {
        held += found.withLock { found in
            defer { found = [] }
            return found
        }
    }

    /// Makes a call. An object that this session has must not be gone.
    /// - Parameter isCancelled: whether it is cancelled at once.
    private func call(
        _ what: String, of epoch: Int? = nil, _ body: @escaping @Sendable () async throws -> Void
    ) {
        let isCurrent = epoch.map { $0 == self.epoch } ?? false
        let (now, story) = (self.epoch, self)
        let task = Task<Void, Never>(executorPreference: network.loop) { [faults] in
            do {
                try await body()
            } catch let error as RPCError where error.code == .noSuchObject && isCurrent {
                // A server that has gone since took the object along.
                if now == story.epoch { faults.withLock { $0.append("\(what): \(error)") } }
            } catch {}
        }
        let isCancelled = Int.random(in: 0..<8, using: &random) == 0
        if isCancelled { task.cancel() }
        trace.append(what + (isCancelled ? ", cancelled" : ""))
        tasks.append(task)
    }

    private func open() {
        let title = "\(Int.random(in: 0..<4, using: &random))"
        let (proxy, found, now, history) = (proxy, found, epoch, history)
        call("open") {
            let parcel = try await proxy.open(title)
            history.note(parcel.volumes.map { _ in .held("volume \(title)", inSession: now) })
            found.withLock { $0 += parcel.volumes.map { Held(volume: $0, title: title, epoch: now) } }
        }
    }

    private func some(_ most: Int) -> [Held] {
        (0..<Int.random(in: 0...most, using: &random)).compactMap { _ in held.randomElement(using: &random) }
    }

    private func parcel(_ volumes: [Held]) -> Parcel {
        if Bool.random(using: &random) {
            lastReader += 1
            reader = KeenReader(readers, name: "reader \(lastReader)")
        }
        var parcel = Parcel(volumes.map(\.volume.object), for: Bool.random(using: &random) ? reader : nil)
        parcel.nameOfReader = reader?.name
        // It may wait and leave in a later session; that one is not judged.
        parcel.session = epoch
        return parcel
    }

    private func act() {
        let proxy = proxy
        switch Int.random(in: 0..<16, using: &random) {
        case 0...3: open()
        case 4, 5:
            guard let one = held.randomElement(using: &random) else { return open() }
            call("title", of: one.epoch) { [faults] in
                let title = try await one.volume.object.title()
                if title != one.title { faults.withLock { $0.append("\(title) in place of \(one.title)") } }
            }
        case 6:
            let volumes = some(3)
            let parcel = parcel(volumes)
            let isCurrent = volumes.allSatisfy { $0.epoch == epoch }
            call("keep", of: isCurrent ? epoch : nil) { try await proxy.keep(parcel) }
        case 7:
            let (parcel, found) = (parcel(some(2)), found)
            let (titles, now, history) = (held.map { ($0.volume, $0.title) }, epoch, history)
            call("echo") {
                for volume in try await proxy.echo(parcel).volumes {
                    guard let title = titles.first(where: { $0.0.isSame(as: volume) })?.1 else { continue }
                    history.note(.held("volume \(title)", inSession: now))
                    found.withLock { $0.append(Held(volume: volume, title: title, epoch: now)) }
                }
            }
        case 8:
            let parcel = parcel(some(2))
            trace.append("note")
            CallScope.with(nil) { proxy.note(parcel) }
        case 9:
            let parcel = parcel([])
            call("ask") { _ = try await proxy.ask(parcel, about: "Maurice") }
        case 10: call("drop") { try await proxy.drop() }
        case 11:
            let parcel = parcel(some(2))
            call("fail") { _ = try await proxy.fail(parcel) }
        case 12...13:
            trace.append("let go")
            let stays = held.map { _ in Bool.random(using: &random) }
            letGo(zip(held, stays).filter { !$0.1 }.map(\.0))
            held = zip(held, stays).filter(\.1).map(\.0)
            reader = nil
        case 14:
            trace.append("cut")
            network.cut(Bool.random(using: &random) ? .reset : .close)
        default:
            if Int.random(in: 0..<3, using: &random) == 0 {
                trace.append("restart")
                history.note(.sessionEnded(epoch))
                epoch += 1
                network.restart()
            } else {
                trace.append("cut twice")
                let bytes = Int.random(in: 0..<400, using: &random)
                var faults = WireFaults()
                faults.breaksAt = (UInt64(bytes), .reset)
                network.injectOnce(faults, fromServer: Bool.random(using: &random))
                network.cut()
            }
        }
    }

    /// Lets everything go, and looks at what is left.
    private func end() {
        for _ in 0..<40 { network.loop.advance(by: .seconds(1)) }
        collect()
        letGo(held)
        held = []
        reader = nil
        tasks = []
        for _ in 0..<3 {
            _ = try? network.loop.complete { [proxy] in try await proxy.drop() }
            network.loop.advance(by: .seconds(2))
            shop.letGo()
        }
        network.loop.advance(by: .seconds(3))
        if shop.alive.value != 0 { note("\(shop.alive.value) volumes are left") }
        if readers.value != 0 { note("\(readers.value) readers are left") }
        if let link = client.requester.link, link.objects.takenCount + link.objects.givenCount > 0 {
            note("the client has \(link.objects.takenCount) objects and has given \(link.objects.givenCount)")
        }
        client.close()
        network.shutDown()
    }
}
