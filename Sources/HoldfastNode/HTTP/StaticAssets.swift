internal import Foundation
internal import HoldfastTransport

/// The web files of a node, read once at its start. A request is looked up by its name among them, so no path leads
/// out of the folder.
struct StaticAssets: Sendable {
    struct Asset: Equatable, Sendable {
        var bytes: [UInt8]
        var type: String
        /// A strong entity tag with its quotes.
        var tag: String
    }

    /// All files together may have so many bytes; the folder is part of the program, so more is a mistake in it.
    static let totalBytes = 64 * 1024 * 1024

    private var assets: [String: Asset] = [:]

    /// Assets by their path below the folder, with slashes and no leading one: `sdk/holdfast.js`.
    init(files: [String: [UInt8]] = [:]) {
        for (path, bytes) in files {
            let digest = SHA256Digest.of(bytes).prefix(12)
            assets[path] = Asset(
                bytes: bytes, type: ContentType.of(path: path), tag: "\"\(Base64URL.encode(Array(digest)))\"")
        }
    }

    /// Reads every file below `folder`; hidden ones are left out.
    static func load(folder: URL) throws(ConfigError) -> StaticAssets {
        let root = folder.resolvingSymlinksInPath().path + "/"
        let keys: [URLResourceKey] = [.isRegularFileKey, .fileSizeKey]
        guard
            let walk = FileManager.default.enumerator(
                at: folder.resolvingSymlinksInPath(), includingPropertiesForKeys: keys, options: [.skipsHiddenFiles])
        else { throw ConfigError("the web files cannot be read: \(folder.path)") }
        var files: [String: [UInt8]] = [:]
        var total = 0
        do {
            for case let file as URL in walk {
                let values = try file.resourceValues(forKeys: Set(keys))
                guard values.isRegularFile == true, file.path.hasPrefix(root) else { continue }
                total += values.fileSize ?? 0
                guard total <= totalBytes else { throw ConfigError("the web files: more than \(totalBytes) bytes") }
                files[String(file.path.dropFirst(root.count))] = try Array(Data(contentsOf: file))
            }
        } catch let error as ConfigError {
            throw error
        } catch {
            throw ConfigError("the web files cannot be read: \(error.localizedDescription)")
        }
        return StaticAssets(files: files)
    }

    /// The asset of a request's path; a path with a slash at its end means the page in that folder.
    subscript(path: String) -> Asset? {
        guard path.hasPrefix("/") else { return nil }
        let name = path.hasSuffix("/") ? path + "index.html" : path
        return assets[String(name.dropFirst())]
    }

    /// What a browser may load for one of the pages: everything from here, and WebSocket links to any node.
    static let contentSecurityPolicy =
        "default-src 'self'; connect-src 'self' ws: wss:; style-src 'self'; base-uri 'none'; frame-ancestors 'none'"

    /// The answer to GET of `asset`. With a matching `If-None-Match` only that nothing changed. `shared` lets pages of
    /// other origins load it, as the SDK has to be.
    static func reply(_ asset: Asset, ifNoneMatch: String?, shared: Bool) -> HTTPReply {
        var headers = [
            HTTPReply.Header(name: "ETag", value: asset.tag),
            HTTPReply.Header(name: "Cache-Control", value: "no-cache"),
        ]
        if shared {
            headers.append(HTTPReply.Header(name: "Access-Control-Allow-Origin", value: "*"))
            headers.append(HTTPReply.Header(name: "Cross-Origin-Resource-Policy", value: "cross-origin"))
        } else {
            headers.append(HTTPReply.Header(name: "Content-Security-Policy", value: contentSecurityPolicy))
            headers.append(HTTPReply.Header(name: "Referrer-Policy", value: "no-referrer"))
        }
        if let ifNoneMatch, matches(ifNoneMatch, asset.tag) {
            return HTTPReply(status: 304, type: nil, headers: headers)
        }
        return HTTPReply(status: 200, type: asset.type, headers: headers, body: asset.bytes)
    }

    private static func matches(_ header: String, _ tag: String) -> Bool {
        header.split(separator: ",").contains { candidate in
            let candidate = candidate.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()
            let text = String(candidate)
            return text == "*" || text == tag || text == "W/" + tag
        }
    }
}
