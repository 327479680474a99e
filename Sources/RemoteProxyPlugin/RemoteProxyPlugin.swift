// The program that the compiler starts to expand macros. A target of its own, so that everything it does is a library: tests that
// use a macro target itself have their whole package compiled a second time, for the compiler's machine.

import RemoteProxyMacros

@main
struct RemoteProxyPlugin {
    static func main() { PluginChannel.run() }
}
