// The server of the sample services: their real objects, with the command line of every `ServerCommand`.

import Protocols
import RPCServer
import RemoteProxy
import Subjects

@main
struct RPCServerProgram {
    static func main() {
        ServerCommand(
            exports: CalculatorProxy(CheckedCalculator()), GreeterProxy(EnglishGreeter()), EchoProxy(PlainEcho()),
            CounterProxy(SharedCounter()), LibraryProxy(TownLibrary()), TransferProxy(PlainTransfer()),
            ChatProxy(ChatRooms())
        ).main()
    }
}
