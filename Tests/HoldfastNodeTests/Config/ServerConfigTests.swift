import HoldfastProtocol
import Testing

@testable import HoldfastNode

@Suite struct ServerConfigTests {
    func resolve(_ file: String?, _ change: (inout ServeFlags) -> Void = { _ in }) throws(ConfigError) -> ServerConfig {
        var flags = ServeFlags()
        change(&flags)
        return try ServerConfig.resolve(file: file.map { Array($0.utf8) }, flags: flags)
    }

    func message(_ file: String?, _ change: (inout ServeFlags) -> Void = { _ in }) -> String {
        do throws(ConfigError) {
            let config = try resolve(file, change)
            return "no error: \(config.listen)"
        } catch {
            return error.message
        }
    }

    static let project = #""projects":[{"key":"acme","secret":"s1"}]"#

    @Test func everyFieldIsRead() throws {
        let config = try resolve(
            #"""
            {"listen":"0.0.0.0","port":8080,"loops":2,"tls":{"certificate":"c.pem","key":"k.pem"},
             "projects":[{"key":"acme","secret":"s1","secondSecret":"s2"},{"key":"b","secret":"x","rooms":7}],
             "limits":{"heartbeatMs":200,"messagesPerSecond":2.5,"clockSkewS":5}}
            """#)
        var expected = ServerConfig()
        expected.listen = "0.0.0.0"
        expected.port = 8080
        expected.loops = 2
        expected.tls = ServerConfig.TLS(certificate: "c.pem", key: "k.pem")
        expected.projects = [
            ProjectSecrets(key: "acme", secrets: ["s1", "s2"]), ProjectSecrets(key: "b", secrets: ["x"], rooms: 7),
        ]
        expected.limits.heartbeatMs = 200
        expected.limits.messagesPerSecond = 2.5
        expected.limits.clockSkewS = 5
        #expect(config == expected)
    }

    @Test func defaultsAreTheSpecs() throws {
        let config = try resolve("{\(Self.project)}")
        #expect(config.listen == "127.0.0.1" && config.port == 7350 && config.tls == nil && !config.dev)
        #expect(config.limits == Limits())
    }

    @Test func flagsLieOverTheFile() throws {
        let config = try resolve(
            #"{"listen":"10.0.0.1","port":1,"tls":{"certificate":"a","key":"b"},\#(Self.project)}"#
        ) {
            $0.listen = "127.0.0.2"
            $0.port = 0
            $0.tlsKey = "other"
        }
        #expect(config.listen == "127.0.0.2" && config.port == 0)
        #expect(config.tls == ServerConfig.TLS(certificate: "a", key: "other"))
    }

    @Test func withoutProjectsOnlyDevStarts() throws {
        #expect(message(nil).contains("--dev") && message(nil).contains("--config"))
        #expect(message("{}") == message(nil))
        #expect(message(#"{"projects":[]}"#) == message(nil))
        let dev = try resolve(nil) { $0.dev = true }
        #expect(dev.dev && dev.projects == [ServerConfig.devProject])
        let both = try resolve("{\(Self.project)}") { $0.dev = true }
        #expect(both.projects.map(\.key) == ["acme", "dev"])
        let own = try resolve(#"{"projects":[{"key":"dev","secret":"mine"}]}"#) { $0.dev = true }
        #expect(own.projects == [ProjectSecrets(key: "dev", secrets: ["mine"])])
    }

    @Test(arguments: [
        "0.0.0.0", "::", "192.168.1.1", "127.0.0", "127.0.0.1.1", "127.0.0.256", "127.evil.example.org", "1270.0.1",
    ])
    func devIsLoopbackOnly(address: String) {
        let text = message(nil) {
            $0.dev = true
            $0.listen = address
        }
        #expect(text.contains("loopback") && text.contains(address))
    }

    @Test(arguments: ["127.0.0.1", "127.1.2.3", "localhost", "::1"])
    func loopbackAddressesAreKnown(address: String) {
        #expect(ServerConfig.isLoopback(address))
    }

    @Test(arguments: [
        (#"{"prot":1}"#, "has no field 'prot'"),
        (#"{"port":65536}"#, "port must be a whole number from 0 to 65535, got 65536"),
        (#"{"port":-1}"#, "got -1"),
        (#"{"port":"7350"}"#, "got a string"),
        (#"{"port":1.5}"#, "got 1.5"),
        (#"{"listen":""}"#, "listen: 1 to 255 bytes, got 0"),
        (#"{"listen":7}"#, "listen must be a string"),
        (#"{"loops":257}"#, "from 0 to 256"),
        (#"{"tls":{"certificate":"a"}}"#, "tls.key is missing"),
        (#"{"tls":{"certificate":"a","key":"b","pw":"c"}}"#, "tls has no field 'pw'"),
        (#"{"projects":{}}"#, "projects must be a list, got an object"),
        (#"{"projects":[{"key":"a"}]}"#, "projects[0].secret is missing"),
        (#"{"projects":[{"secret":"a"}]}"#, "projects[0].key is missing"),
        (#"{"projects":[{"key":"a b","secret":"a"}]}"#, "projects[0].key: only"),
        (#"{"projects":[{"key":"a","secret":""}]}"#, "projects[0].secret: 1 to 1024 bytes, got 0"),
        (#"{"projects":[{"key":"a","secret":"s"},{"key":"a","secret":"t"}]}"#, "projects[1].key: 'a' stands twice"),
        (#"{"projects":[{"key":"a","secret":"s","colour":1}]}"#, "projects[0] has no field 'colour'"),
        (#"{"limits":{"heartbeat":1}}"#, "limits has no field 'heartbeat'"),
        (#"{"limits":{"heartbeatMs":0}}"#, "limits.heartbeatMs must be above 0"),
        (#"{"limits":{"heartbeatMs":-5}}"#, "limits.heartbeatMs"),
        (#"{"limits":{"heartbeatMs":1.5}}"#, "limits.heartbeatMs"),
        (#"{"limits":{"heartbeatMs":5000000000}}"#, "limits.heartbeatMs"),
        (#"{"limits":{"heartbeatMs":"5"}}"#, "limits.heartbeatMs must be a number, got a string"),
        (#"{"limits":[]}"#, "limits must be a JSON object"),
        (#"{"limits":{"listPage":10}}"#, "limits.listPageDefault: at most limits.listPage (10), got 20"),
        (#"{"limits":{"frameRate":10}}"#, "limits.frameRateDefault"),
        ("{\n\"port\":1,\n\"port\":2}", "a name stands twice in one object (line 3)"),
        ("[]", "the config file must be a JSON object"),
        ("", "the config file is not JSON"),
    ])
    func aMistakeIsNamed(file: String, expected: String) {
        let withProject =
            file.contains("projects") || !file.hasPrefix(#"{""#)
            ? file : "{\(Self.project)," + file.dropFirst()
        #expect(message(withProject).contains(expected), "\(message(withProject))")
    }

    @Test func secretsAreNotTold() {
        let text = message(#"{"projects":[{"key":"a","secret":"MARK","secondSecret":["MARK"],"x":"MARK"}]}"#)
        #expect(!text.contains("MARK") && text.contains("secondSecret"))
    }

    @Test func oneHalfOfTLSIsNotEnough() {
        #expect(message(nil) { $0.tlsKey = "k" }.contains("--tls-certificate"))
        #expect(message(nil) { $0.tlsCertificate = "c" }.contains("--tls-key"))
    }

    @Test func aHugeFileIsNotRead() {
        let file = String(repeating: " ", count: ServerConfig.fileBytes + 1)
        #expect(message(file).contains("at most \(ServerConfig.fileBytes) bytes"))
    }
}
