internal import HoldfastProtocol
public import HoldfastReplication
public import HoldfastTransport

/// What a node has to know to take part in a cluster. Absent: it is a cluster of one, with everything in its memory.
public struct ClusterConfig: Equatable, Sendable {
    /// Of a node's name, in bytes.
    public static let nameBytes = 64
    /// etcd's members that can be named.
    public static let endpointLimit = 16

    /// Unique in the cluster; a process that comes back under it takes the place of the one before.
    public var node: String
    /// Clusters with different names can share an etcd.
    public var cluster = "main"
    public var roles: NodeRoles = .all
    /// What fails together with this node; see `NodeInfo`.
    public var host = ""
    /// `http://host:port` of etcd's members.
    public var etcd: [String]
    public var etcdTrust = FetchTrust()
    /// Where links of other nodes come in: `tcp://address:port`.
    public var link: String
    /// What others are told of it; nil: the same.
    public var linkAdvertised: String?
    /// This process's CURVE keys; nil: links are neither encrypted nor authenticated.
    public var linkKeys: CurveKeys?
    /// Where clients and operators reach this node: `http://host:port`; nil: where it listens.
    public var url: String?
    /// Writes the first records, unless that was done before.
    public var bootstraps = false
    /// How many nodes hold each shard, when there are so many. Equal at all nodes.
    public var replicas = 2

    public init(node: String, etcd: [String], link: String) {
        self.node = node
        self.etcd = etcd
        self.link = link
    }
}

/// What the flags of `holdfast serve` say of a cluster; nil where nothing was said.
public struct ClusterFlags: Equatable, Sendable {
    public var node: String?
    public var cluster: String?
    public var roles: [String]?
    public var host: String?
    public var etcd: [String]?
    public var link: String?
    public var linkAdvertised: String?
    public var linkKeys: CurveKeys?
    public var insecureLinks = false
    public var url: String?
    public var bootstraps = false
    public var replicas: Int?

    /// Flags that say nothing.
    public init() {}

    /// The config file's part with these over it, checked.
    func over(_ file: ClusterConfig?) throws(ConfigError) -> ClusterConfig? {
        guard file != nil || self != ClusterFlags() else { return nil }
        guard let node = node ?? file?.node else { throw ConfigError("--node-id is needed in a cluster") }
        guard let etcd = etcd ?? file?.etcd, !etcd.isEmpty else { throw ConfigError("--etcd is needed in a cluster") }
        guard let link = link ?? file?.link else {
            throw ConfigError("--link is needed in a cluster: tcp://ADDRESS:PORT, where other nodes connect")
        }
        var config = file ?? ClusterConfig(node: node, etcd: etcd, link: link)
        config.node = node
        config.etcd = etcd
        config.link = link
        if let cluster { config.cluster = cluster }
        if let roles {
            config.roles = []
            for role in roles {
                guard let known = NodeRoles(name: role) else {
                    throw ConfigError("--roles: gateway, room and matchmaker are known, got '\(role)'")
                }
                config.roles.formUnion(known)
            }
        }
        if let host { config.host = host }
        if let linkAdvertised { config.linkAdvertised = linkAdvertised }
        if let url { config.url = url }
        if let replicas { config.replicas = replicas }
        config.bootstraps = config.bootstraps || bootstraps
        if insecureLinks {
            config.linkKeys = nil
        } else if let keys = linkKeys ?? config.linkKeys ?? CurveKeys.make() {
            config.linkKeys = keys
        } else {
            throw ConfigError("this libzmq has no CURVE: links can only be had with --insecure-links")
        }
        try config.check()
        return config
    }
}

extension ClusterConfig {
    func check() throws(ConfigError) {
        try Self.checkName(node, "node-id")
        try Self.checkName(cluster, "cluster")
        guard roles != [] else { throw ConfigError("roles: a node needs one at least") }
        guard host.utf8.count <= Self.nameBytes else { throw ConfigError("host: at most \(Self.nameBytes) bytes") }
        guard (1...Self.endpointLimit).contains(etcd.count) else {
            throw ConfigError("etcd: 1 to \(Self.endpointLimit) members, got \(etcd.count)")
        }
        for member in etcd where !member.hasPrefix("http://") && !member.hasPrefix("https://") {
            throw ConfigError("etcd: http://HOST:PORT or https://HOST:PORT, got '\(member)'")
        }
        let told = linkAdvertised ?? link
        guard let address = ClusterLinks.Address(told), address.port != 0, address.host != "*",
            address.host != "0.0.0.0", address.host != "::"
        else {
            throw ConfigError(
                "link: other nodes cannot connect to '\(told)'; give --link-advertise tcp://HOST:PORT as they see it")
        }
        guard (1...5).contains(replicas) else { throw ConfigError("replicas: 1 to 5, got \(replicas)") }
    }

    private static func checkName(_ name: String, _ field: String) throws(ConfigError) {
        let isGood = name.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
            default: false
            }
        }
        guard isGood, (1...nameBytes).contains(name.utf8.count) else {
            throw ConfigError("\(field): 1 to \(nameBytes) of A-Z a-z 0-9 . _ -, got '\(name)'")
        }
    }
}

/// A file with a node's link keys, as `holdfast keys` makes it: `public KEY` and `secret KEY`, a line each.
public enum LinkKeyFile {
    public static func text(of keys: CurveKeys) -> String {
        "public \(keys.publicKey)\nsecret \(keys.secretKey)\n"
    }

    public static func read(_ text: String, name: String) throws(ConfigError) -> CurveKeys {
        var found: [Substring: String] = [:]
        for line in text.split(whereSeparator: \.isNewline) where !line.hasPrefix("#") {
            let parts = line.split(separator: " ")
            if parts.count == 2 { found[parts[0]] = String(parts[1]) }
        }
        guard let publicKey = found["public"], let secretKey = found["secret"],
            let keys = CurveKeys(publicKey: publicKey, secretKey: secretKey)
        else {
            throw ConfigError(
                "link keys '\(name)': two lines, 'public KEY' and 'secret KEY', of one pair; see holdfast keys")
        }
        return keys
    }
}
