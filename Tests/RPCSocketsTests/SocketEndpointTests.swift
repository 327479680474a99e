import RPCSockets
import RPCWire
import Testing

struct SocketEndpointTests {
    @Test(arguments: [
        ("tcp://127.0.0.1:7070", SocketEndpoint.tcp(host: "127.0.0.1", port: 7070)),
        ("tcp://[::1]:7070", .tcp(host: "::1", port: 7070)),
        ("tcp://example.org:0", .tcp(host: "example.org", port: 0)),
        ("tcp://0.0.0.0:65535", .tcp(host: "0.0.0.0", port: 65_535)),
        ("unix:///run/app.sock", .unix(path: "/run/app.sock")),
        ("unix:///Users/ann/Group Containers/guests/s", .unix(path: "/Users/ann/Group Containers/guests/s")),
    ])
    func `an address is read, and written back as it was`(text: String, endpoint: SocketEndpoint) throws {
        #expect(try SocketEndpoint(text) == endpoint)
        #expect(endpoint.description == text)
    }

    @Test func `a scheme may be written in any case, and a slash may stand at the end`() throws {
        #expect(try SocketEndpoint("TCP://localhost:80/") == .tcp(host: "localhost", port: 80))
    }

    @Test(arguments: [
        ("", #"the address "" has no scheme; write for instance tcp://127.0.0.1:7070"#),
        ("7071", #"the address "7071" has no scheme; write for instance tcp://127.0.0.1:7071"#),
        ("host", #"the address "host" has no scheme; write for instance tcp://host:7070"#),
        ("/run/a.sock", #"the address "/run/a.sock" has no scheme; write for instance unix:///run/a.sock"#),
        ("localhost:7070", #"the address "localhost:7070" has no scheme; write for instance tcp://localhost:7070"#),
        ("unix:relative", "has no scheme; write for instance unix:///run/app.sock"),
        ("unix:/run/a.sock", "has no scheme; write for instance unix:///run/a.sock"),
        ("tcp:host", "has no scheme; write for instance tcp://host:7070"),
        ("tcp:host:80", "has no scheme; write for instance tcp://host:80"),
        ("http://localhost:80", #"has the scheme "http", but only tcp, tls, unix and exec are known"#),
        ("tcp://localhost", #"has no port; write for instance tcp://localhost:7070"#),
        ("tcp://[::1]", #"has no port; write for instance tcp://[::1]:7070"#),
        ("tcp://localhost:", #"has the port "", which is not a number from 0 to 65535"#),
        ("tcp://localhost:65536", #"has the port "65536", which is not a number from 0 to 65535"#),
        ("tcp://localhost:+80", #"has the port "+80", which is not a number from 0 to 65535"#),
        ("tcp://localhost:80x", #"has the port "80x""#),
        ("tcp://:7070", "has no host; write for instance tcp://127.0.0.1:7070"),
        ("tcp://", "has no port; write for instance tcp://127.0.0.1:7070"),
        ("tcp://::1:7070", "has an IPv6 address without brackets; write for instance tcp://[::1]:7070"),
        ("tcp://[host]:1", #"has "host" in brackets, which is not an IPv6 address"#),
        ("tcp://[::g]:1", #"has "::g" in brackets, which is not an IPv6 address"#),
        ("tcp://user@host:1", #"has a "@" where only host and port can be"#),
        ("tcp://host:1/path", #"has a "/" where only host and port can be"#),
        ("tls://localhost:80", #"has the scheme "tls", but only tcp and unix are possible here"#),
        ("tcp://ho st:1", "contains a blank or a control character"),
        ("unix:///run/app.sock\n", "contains a blank or a control character"),
        ("tcp://host:1\r\n", "contains a blank or a control character"),
        ("unix://", "needs the whole path of a socket file; write for instance unix:///run/app.sock"),
        ("unix://run/app.sock", "needs the whole path of a socket file"),
        (
            "unix:///" + String(repeating: "x", count: 200),
            "has a path of 201 bytes; at most 107 fit; write for instance unix:///run/app.sock"
        ),
    ])
    func `a wrong address is refused with what is wrong and what would be right`(text: String, fault: String) {
        let error = #expect(throws: SetupError.self) { try SocketEndpoint(text) }
        #expect(error?.description.contains(fault) == true, "\(error?.description ?? "")")
        let examples = error?.description.split(separator: "write for instance ").last ?? ""
        for example in examples.split(separator: " or ") {
            #expect(throws: Never.self, "\(example)") { try SocketEndpoint(String(example)) }
        }
    }

    @Test(arguments: [
        ("tcp://127.0.0.1:1", true), ("tcp://127.8.9.1:1", true), ("tcp://[::1]:1", true), ("tcp://localhost:1", true),
        ("tcp://[::ffff:127.0.0.1]:1", true), ("unix:///x", true), ("tcp://0.0.0.0:1", false), ("tcp://[::]:1", false),
        ("tcp://10.0.0.1:1", false), ("tcp://127.example.org:1", false),
    ])
    func `loopback is what only this machine can reach`(text: String, isLoopback: Bool) throws {
        #expect(try SocketEndpoint(text).isLoopback == isLoopback)
    }
}
