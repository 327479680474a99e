// The compiler's side of the conversation: messages as the 6.3 toolchain sends them, and our answers to the byte.

import Foundation
import Testing

@testable import RemoteProxyMacros

struct PluginMessageTests {
    private func answer(_ message: String) -> String {
        String(decoding: PluginConversation.answer(to: Array(message.utf8)), as: UTF8.self)
    }

    @Test func `the handshake is answered with the version we speak`() {
        #expect(
            answer(#"{"getCapability":{"capability":{"protocolVersion":7}}}"#)
                == #"{"getCapabilityResult":{"capability":{"protocolVersion":7}}}"#)
        #expect(answer(#"{"getCapability":{}}"#) == #"{"getCapabilityResult":{"capability":{"protocolVersion":7}}}"#)
    }

    @Test func `an expansion is answered, whatever else the request carries`() {
        let answer = answer(
            #"""
            {"expandAttachedMacro":{"attributeSyntax":{"kind":"attribute","location":{"column":1,"fileID":"C/a.swift",
            "fileName":"a.swift","line":3,"offset":20},"source":"@Service"},"declSyntax":{"kind":"declaration",
            "location":{"column":1,"fileID":"C/a.swift","fileName":"a.swift","line":3,"offset":20},
            "source":"@Service\nprotocol P {\n}"},"discriminator":"$s1C1P7ServicefMp_","lexicalContext":[],
            "macro":{"moduleName":"RemoteProxyPlugin","name":"Service","typeName":"ServiceMacro"},
            "macroRole":"peer","staticBuildConfiguration":"{}","later":[null]}}
            """#)
        #expect(answer.hasPrefix(#"{"expandMacroResult":{"#))
        #expect(answer.contains("struct PProxy: P, RemoteProxy.ServiceProxy"))
        #expect(answer.contains(#"'P' must inherit Sendable"#))
        #expect(answer.contains(#""severity":"error""#))
        #expect(answer.contains(#""offset":38"#))
        #expect(answer.contains(#""highlights":[]"#))
    }

    @Test(arguments: [
        "", "{}", "nonsense", #"{"expandFreestandingMacro":{}}"#, #"{"loadPluginLibrary":{"moduleName":"A"}}"#,
        #"{"expandAttachedMacro":{}}"#,
        #"{"expandAttachedMacro":{"macro":{"typeName":"Other"},"attributeSyntax":{"source":""},"declSyntax":{"source":""}}}"#,
    ])
    func `what we do not know is answered with a message`(request: String) {
        let answer = answer(request)
        #expect(answer.hasPrefix(#"{"expandMacroResult":{"#))
        #expect(answer.contains(#""severity":"error""#))
    }

    @Test func `messages are framed by their length and end with the pipe`() {
        let requests = Pipe()
        let answers = Pipe()
        let compiler = PluginChannel(
            input: answers.fileHandleForReading.fileDescriptor, output: requests.fileHandleForWriting.fileDescriptor)
        #expect(compiler.send(Array("one".utf8)))
        #expect(compiler.send([]))
        try? requests.fileHandleForWriting.close()
        let plugin = PluginChannel(
            input: requests.fileHandleForReading.fileDescriptor, output: answers.fileHandleForWriting.fileDescriptor)
        plugin.serve { message in message + Array("!".utf8) }
        try? answers.fileHandleForWriting.close()
        #expect(compiler.receive() == Array("one!".utf8))
        #expect(compiler.receive() == Array("!".utf8))
        #expect(compiler.receive() == nil)
    }

    @Test(
        arguments: [[0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], [4, 0, 0, 0, 0, 0, 0, 0, 1], [4, 0]] as [[UInt8]])
    func `a broken frame ends the conversation`(bytes: [UInt8]) throws {
        let requests = Pipe()
        try requests.fileHandleForWriting.write(contentsOf: bytes)
        try requests.fileHandleForWriting.close()
        #expect(PluginChannel(input: requests.fileHandleForReading.fileDescriptor).receive() == nil)
    }
}
