/// The parts of a `ws:` or `wss:` address.
struct WebSocketURL: Equatable {
    let isSecure: Bool
    /// Without the brackets of IPv6.
    let host: String
    let port: UInt16
    /// Path and query; begins with `/`.
    let target: String
    /// For the `host` header field.
    let authority: String

    /// Nil for anything else: another scheme, user info, a fragment, blanks or control characters.
    init?(_ text: String) {
        guard text.utf8.allSatisfy({ $0 > 32 && $0 < 127 }), !text.contains("#") else { return nil }
        let rest: Substring
        if text.lowercased().hasPrefix("ws://") {
            isSecure = false
            rest = text.dropFirst(5)
        } else if text.lowercased().hasPrefix("wss://") {
            isSecure = true
            rest = text.dropFirst(6)
        } else {
            return nil
        }
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        let place = rest[..<end]
        let tail = rest[end...]
        target = tail.hasPrefix("/") ? String(tail) : "/" + tail
        guard !place.isEmpty, !place.contains("@") else { return nil }
        var hostEnd = place.endIndex
        if place.hasPrefix("[") {
            guard let bracket = place.firstIndex(of: "]") else { return nil }
            host = String(place[place.index(after: place.startIndex)..<bracket])
            hostEnd = place.index(after: bracket)
        } else {
            hostEnd = place.firstIndex(of: ":") ?? place.endIndex
            host = String(place[..<hostEnd])
        }
        let portText = place[hostEnd...]
        if portText.isEmpty {
            port = isSecure ? 443 : 80
        } else {
            guard portText.hasPrefix(":"), let number = UInt16(portText.dropFirst()), number > 0 else { return nil }
            port = number
        }
        guard !host.isEmpty else { return nil }
        authority = String(place)
    }
}
