internal import HoldfastProtocol
internal import HoldfastTransport
internal import Synchronization

/// Brings requests to the router and carries out where it sends them.
final class NodeHTTPHandler: HTTPHandler {
    private let router: NodeRouter
    private let engine: any NodeEngine
    private let log: Log
    private let draining = Atomic(false)
    private let port = Atomic<UInt16>(0)
    /// What `/metrics` tells. Behind a lock because the server, which tells some, is made after its handler.
    let metrics: Locked<MetricsRegistry>
    private let answers: [Int: Counter]
    private let upgrades: Counter

    init(router: NodeRouter, engine: any NodeEngine, log: Log, metrics: MetricsRegistry) {
        self.router = router
        self.engine = engine
        self.log = log
        var metrics = metrics
        let name = "holdfast_http_responses_total"
        let help = "Answers to HTTP requests, by class of status."
        upgrades = metrics.counter(name, help, [("status", "1xx")])
        var answers: [Int: Counter] = [:]
        for digit in 2...5 { answers[digit] = metrics.counter(name, help, [("status", "\(digit)xx")]) }
        self.answers = answers
        self.metrics = Locked(metrics)
    }

    /// The server, which is made after its handler, listens on this port.
    func listens(on port: UInt16) { self.port.store(port, ordering: .relaxed) }

    /// From now on the node says that it is not ready, and takes no clients.
    func drain() { draining.store(true, ordering: .relaxed) }

    private var readiness: NodeReadiness {
        draining.load(ordering: .relaxed) ? .draining : engine.isReady ? .ready : .starting
    }

    func handle(_ request: HTTPRequest, _ exchange: HTTPExchange) {
        var headers: [String: String] = [:]
        for name in NodeRouter.readHeaders { headers[name] = request.headers[name] }
        let target = request.path + (request.query.map { "?\($0)" } ?? "")
        let routed = NodeRouter.Request(
            method: request.method, target: target, headers: headers, port: port.load(ordering: .relaxed))
        switch router.route(routed, readiness: readiness, nowS: WallClock.nowS) {
        case .reply(let reply): answer(reply, exchange)
        case .metrics:
            let metrics = metrics.withLock { $0 }
            answer(.live(200, type: MetricsRegistry.contentType, metrics.text()), exchange)
        case .connect: connect(request, exchange)
        }
    }

    private func connect(_ request: HTTPRequest, _ exchange: HTTPExchange) {
        guard let subprotocols = exchange.offeredSubprotocols else {
            let upgrade = HTTPReply.Header(name: "Upgrade", value: "websocket")
            answer(.error(426, .invalidRequest, "this path is for WebSocket", headers: [upgrade]), exchange)
            return
        }
        guard readiness != .draining else {
            answer(.error(503, .draining, "this node is leaving"), exchange)
            return
        }
        let offer = ConnectionOffer(
            subprotocols: subprotocols, remoteAddress: request.remoteAddress, loop: exchange.loop)
        switch engine.decide(offer) {
        case .accept(let subprotocol, let options, let handler):
            if exchange.acceptWebSocket(subprotocol: subprotocol, options: options, handler) != nil { upgrades.add() }
        case .refuse(let status, let code, let message):
            answer(.error(status, code, message), exchange)
        }
    }

    private func answer(_ reply: HTTPReply, _ exchange: HTTPExchange) {
        answers[reply.status / 100]?.add()
        var headers = HTTPHeaders()
        for header in reply.headers { headers.add(header.name, header.value) }
        exchange.respond(HTTPResponse(reply.status, headers: headers, body: reply.body))
    }
}
