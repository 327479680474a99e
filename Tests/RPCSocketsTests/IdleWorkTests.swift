// What is left for when there is nothing else to do.

import RPCWire
import Synchronization
import TestSupport
import Testing

@testable import RPCSockets

@Suite struct `Idle work` {
    @Test(arguments: EventLoop.Backend.allCases)
    func `is done by a loop that sleeps, or is about to`(_ backend: EventLoop.Backend) async throws {
        try await withLoop(backend) { loop in
            for number in 0..<100 {
                #expect(await handedOver { answer in loop.whenIdle { answer(number) } } == number)
            }
        }
    }

    @Test func `comes behind everything else, in the order it was left`() async throws {
        try await withLoop { loop in
            let diary = Diary<Int>()
            let all = await handedOver { answer in
                loop.submit {
                    loop.whenIdle { diary.note(3) }
                    loop.whenIdle {
                        diary.note(4)
                        loop.whenIdle { answer(diary.all) }
                        loop.submit { diary.note(5) }
                    }
                    loop.submit {
                        diary.note(1)
                        loop.submit { diary.note(2) }
                    }
                }
            }
            #expect(all == [1, 2, 3, 4, 5])
        }
    }

    @Test(arguments: EventLoop.Backend.allCases)
    func `is done before long where there is always something else`(_ backend: EventLoop.Backend) async throws {
        try await withLoop(backend) { loop in
            let isDone = Atomic(false)
            let work = EndlessWork(on: loop) { isDone.load(ordering: .relaxed) }
            let wait = await handedOver { answer in
                loop.submit {
                    work.goOn()
                    let before = MonotonicClock.now
                    loop.whenIdle {
                        isDone.store(true, ordering: .relaxed)
                        answer(before.duration(to: MonotonicClock.now))
                    }
                }
            }
            #expect(wait >= .milliseconds(2))
        }
    }

    @Test func `is done by a loop that is shut down`() async throws {
        let loop = try EventLoop(name: "test")
        let isDone = await handedOver { answer in
            loop.submit {
                loop.shutdown()
                loop.whenIdle { answer(true) }
            }
        }
        #expect(isDone)
    }
}
