import HoldfastReplication
import HoldfastTransport
import Testing

@testable import HoldfastNode

/// What a node is told of its cluster.
@Suite struct ClusterConfigTests {
    private func flags(_ change: (inout ClusterFlags) -> Void = { _ in }) -> ClusterFlags {
        var flags = ClusterFlags()
        flags.node = "a"
        flags.etcd = ["http://127.0.0.1:2379"]
        flags.link = "tcp://127.0.0.1:7400"
        change(&flags)
        return flags
    }

    @Test func withoutFlagsThereIsNoCluster() throws {
        #expect(try ClusterFlags().over(nil) == nil)
    }

    @Test func linksAreEncryptedUnlessSomebodySaysOtherwise() throws {
        #expect(try flags().over(nil)?.linkKeys != nil)
        #expect(try flags { $0.insecureLinks = true }.over(nil)?.linkKeys == nil)
    }

    @Test(arguments: [
        "--node-id", "--etcd", "--link", "roles", "node-id", "tcp://*", "replicas", "etcd:",
    ]) func whatIsWrongIsNamed(word: String) {
        let wrong = flags {
            switch word {
            case "--node-id": $0.node = nil
            case "--etcd": $0.etcd = nil
            case "--link": $0.link = nil
            case "roles": $0.roles = ["gateway", "cook"]
            case "node-id": $0.node = "a b"
            case "tcp://*": $0.link = "tcp://*:7400"
            case "replicas": $0.replicas = 9
            default: $0.etcd = ["127.0.0.1:2379"]
            }
        }
        #expect { try wrong.over(nil) } throws: { ($0 as? ConfigError)?.message.contains(word) ?? false }
    }

    @Test func rolesAreNamed() throws {
        #expect(try flags { $0.roles = ["room", "matchmaker"] }.over(nil)?.roles == [.room, .matchmaker])
        #expect(try flags().over(nil)?.roles == .all)
    }

    @Test func aKeyFileIsReadAsItIsWritten() throws {
        let keys = try #require(CurveKeys.make())
        #expect(try LinkKeyFile.read("# of node a\n" + LinkKeyFile.text(of: keys), name: "k") == keys)
        #expect(throws: ConfigError.self) { try LinkKeyFile.read("public \(keys.publicKey)\n", name: "k") }
    }

    @Test func addressesAreHostsWithPorts() {
        #expect(ClusterLinks.Address("tcp://a.example:7400")?.host == "a.example")
        #expect(ClusterLinks.Address("tcp://[::1]:7400")?.host == "::1")
        #expect(ClusterLinks.Address("tcp://[::1]:7400")?.port == 7400)
        for text in ["", "tcp://", "tcp://a", "tcp://:1", "tcp://a:x", "http://a:1", "tcp:1"] {
            #expect(ClusterLinks.Address(text) == nil, "\(text)")
        }
    }
}
