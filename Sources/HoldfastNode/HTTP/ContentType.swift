/// Media types of the files that a node serves.
enum ContentType {
    static let json = "application/json; charset=utf-8"
    static let text = "text/plain; charset=utf-8"

    /// The type by the name's ending; bytes without a meaning for one that is not known.
    static func of(path: String) -> String {
        guard let dot = path.lastIndex(of: "."), !path[dot...].contains("/") else { return "application/octet-stream" }
        return switch path[path.index(after: dot)...].lowercased() {
        case "html": "text/html; charset=utf-8"
        case "js", "mjs": "text/javascript; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "json", "map": json
        case "webmanifest": "application/manifest+json"
        case "ts", "txt", "md": text
        case "svg": "image/svg+xml"
        case "png": "image/png"
        case "jpg", "jpeg": "image/jpeg"
        case "webp": "image/webp"
        case "ico": "image/x-icon"
        case "woff2": "font/woff2"
        case "wasm": "application/wasm"
        case "mp3": "audio/mpeg"
        case "ogg": "audio/ogg"
        default: "application/octet-stream"
        }
    }
}
