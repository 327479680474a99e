// The real prime numbers: costly to make and large to keep. Other modules cannot name the object; they get its proxy from
// `primes()`.

package import Protocols
import RemoteProxy
import Synchronization

/// A proxy for the prime numbers; there is no other access. The table is made for the first call, and let go after a minute
/// without calls.
package func primes() -> PrimesProxy {
    .lazy(keepingAlive: .seconds(60)) { SievedPrimes() }
}

/// How many tables this process has made. Asking does not make one.
package func primeTablesMade() -> Int { SievedPrimes.made.load(ordering: .relaxed) }

/// A table of all numbers up to fifty thousand, sieved. A larger one keeps a busy server's thread so long that the log warns of
/// it.
struct SievedPrimes: Primes {
    static let limit = 50_000
    fileprivate static let made = Atomic(0)

    private let isComposite: [Bool]

    init() {
        Self.made.add(1, ordering: .relaxed)
        var isComposite = [Bool](repeating: false, count: Self.limit + 1)
        for number in 2...Self.limit where number * number <= Self.limit && !isComposite[number] {
            for multiple in stride(from: number * number, through: Self.limit, by: number) {
                isComposite[multiple] = true
            }
        }
        self.isComposite = isComposite
    }

    func count(upTo number: Int) async throws -> Int {
        // A caller may ask for any number; the answer goes as far as the table.
        guard number >= 2 else { return 0 }
        return isComposite[2...min(number, Self.limit)].count { !$0 }
    }

    func tablesMade() async throws -> Int { Self.made.load(ordering: .relaxed) }
}
