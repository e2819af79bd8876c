internal import Foundation
internal import HoldfastProtocol

/// Reads the config file: each field by hand, so that an error can name it and say what it may be.
enum ConfigReader {
    static func read(_ file: [UInt8]) throws(ConfigError) -> ServerConfig {
        guard file.count <= ServerConfig.fileBytes else {
            throw ConfigError("the config file: at most \(ServerConfig.fileBytes) bytes, got \(file.count)")
        }
        let root: JSONValue
        do {
            root = try StrictJSON.parse(file)
        } catch {
            let line = file[..<min(error.offset, file.count)].count { $0 == UInt8(ascii: "\n") } + 1
            throw ConfigError("the config file is not JSON: \(error.reason) (line \(line))")
        }
        var config = ServerConfig()
        for member in try members(of: root, "the config file") where member.value != .null {
            switch member.name {
            case "listen": config.listen = try text(member.value, "listen", limit: 255)
            case "port": config.port = UInt16(try whole(member.value, "port", in: 0...65535))
            case "loops": config.loops = try whole(member.value, "loops", in: 0...256)
            case "tls": config.tls = try tls(member.value)
            case "projects": config.projects = try projects(member.value)
            case "limits": config.limits = try limits(member.value)
            default:
                throw unknown(member.name, in: "the config file", known: "listen, port, loops, tls, projects, limits")
            }
        }
        return config
    }

    private static func tls(_ value: JSONValue) throws(ConfigError) -> ServerConfig.TLS {
        var tls = ServerConfig.TLS(certificate: "", key: "")
        for member in try members(of: value, "tls") {
            switch member.name {
            case "certificate": tls.certificate = try text(member.value, "tls.certificate", limit: 4096)
            case "key": tls.key = try text(member.value, "tls.key", limit: 4096)
            default: throw unknown(member.name, in: "tls", known: "certificate, key")
            }
        }
        if tls.certificate.isEmpty { throw ConfigError("tls.certificate is missing: the path of a PEM file") }
        if tls.key.isEmpty { throw ConfigError("tls.key is missing: the path of a PEM file") }
        return tls
    }

    private static func projects(_ value: JSONValue) throws(ConfigError) -> [ProjectSecrets] {
        guard case .array(let elements) = value else {
            throw ConfigError("projects must be a list, got \(kind(of: value))")
        }
        guard elements.count <= ServerConfig.projectLimit else {
            throw ConfigError("projects: at most \(ServerConfig.projectLimit), got \(elements.count)")
        }
        var projects: [ProjectSecrets] = []
        var keys: Set<String> = []
        for (index, element) in elements.enumerated() {
            let project = try project(element, "projects[\(index)]")
            guard keys.insert(project.key).inserted else {
                throw ConfigError("projects[\(index)].key: '\(project.key)' stands twice")
            }
            projects.append(project)
        }
        return projects
    }

    private static func project(_ value: JSONValue, _ path: String) throws(ConfigError) -> ProjectSecrets {
        var key = ""
        var first = ""
        var second: String?
        var rooms: Int?
        for member in try members(of: value, path) where member.value != .null {
            let field = "\(path).\(member.name)"
            switch member.name {
            case "key":
                key = try text(member.value, field, limit: ServerConfig.projectKeyBytes)
                guard key.utf8.allSatisfy(isKeyByte) else {
                    throw ConfigError("\(field): only A-Z a-z 0-9 . _ - are allowed")
                }
            case "secret": first = try text(member.value, field, limit: ServerConfig.secretBytes)
            case "secondSecret": second = try text(member.value, field, limit: ServerConfig.secretBytes)
            case "rooms": rooms = try whole(member.value, field, in: 1...1_000_000_000)
            default: throw unknown(member.name, in: path, known: "key, secret, secondSecret, rooms")
            }
        }
        if key.isEmpty { throw ConfigError("\(path).key is missing") }
        if first.isEmpty { throw ConfigError("\(path).secret is missing") }
        return ProjectSecrets(key: key, secrets: [first] + (second.map { [$0] } ?? []), rooms: rooms)
    }

    private static func isKeyByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
        default: false
        }
    }

    private static func limits(_ value: JSONValue) throws(ConfigError) -> Limits {
        let members = try members(of: value, "limits")
        for member in members {
            switch member.value {
            case .integer, .number, .null: break
            default: throw ConfigError("limits.\(member.name) must be a number, got \(kind(of: member.value))")
            }
        }
        // Foundation's decoder does not say which number did not fit, so each goes alone first.
        for member in members { _ = try limits(.object([member]), of: member) }
        return try limits(value, of: nil)
    }

    private static func limits(_ value: JSONValue, of member: JSONValue.Member?) throws(ConfigError) -> Limits {
        do {
            return try JSONDecoder().decode(Limits.self, from: Data(value.text.utf8))
        } catch DecodingError.dataCorrupted(let context) where context.debugDescription.hasPrefix("limits") {
            throw ConfigError(context.debugDescription)
        } catch {
            guard let member else { throw ConfigError("limits cannot be read: \(error)") }
            throw ConfigError(
                "limits.\(member.name): a number of its kind above 0 (whole, unless it is a rate), got "
                    + kind(of: member.value))
        }
    }

    private static func members(of value: JSONValue, _ path: String) throws(ConfigError) -> [JSONValue.Member] {
        guard case .object(let members) = value else {
            throw ConfigError("\(path) must be a JSON object, got \(kind(of: value))")
        }
        return members
    }

    private static func text(_ value: JSONValue, _ path: String, limit: Int) throws(ConfigError) -> String {
        guard case .string(let text) = value else {
            throw ConfigError("\(path) must be a string, got \(kind(of: value))")
        }
        guard (1...limit).contains(text.utf8.count) else {
            throw ConfigError("\(path): 1 to \(limit) bytes, got \(text.utf8.count)")
        }
        return text
    }

    private static func whole(
        _ value: JSONValue, _ path: String, in range: ClosedRange<Int>
    ) throws(ConfigError) -> Int {
        guard case .integer(let number) = value, let whole = Int(exactly: number), range.contains(whole) else {
            throw ConfigError(
                "\(path) must be a whole number from \(range.lowerBound) to \(range.upperBound), got \(kind(of: value))"
            )
        }
        return whole
    }

    private static func unknown(_ name: String, in path: String, known: String) -> ConfigError {
        ConfigError("\(path) has no field '\(name)'; known: \(known)")
    }

    /// What a value is, for an error: numbers in full, of texts only that they are some, since they may be secrets.
    private static func kind(of value: JSONValue) -> String {
        switch value {
        case .null: "null"
        case .bool(let flag): "\(flag)"
        case .integer(let number): "\(number)"
        case .number(let number): "\(number)"
        case .string: "a string"
        case .array: "a list"
        case .object: "an object"
        }
    }
}

extension JSONValue {
    /// The value as JSON text.
    var text: String {
        switch self {
        case .null: "null"
        case .bool(let flag): "\(flag)"
        case .integer(let number): "\(number)"
        case .number(let number): "\(number)"
        case .string(let text): JSONText.quoted(text)
        case .array(let elements): "[\(elements.map(\.text).joined(separator: ","))]"
        case .object(let members):
            "{\(members.map { "\(JSONText.quoted($0.name)):\($0.value.text)" }.joined(separator: ","))}"
        }
    }
}
