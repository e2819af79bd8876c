extension Node {
    /// Starts a node with the engine that plays.
    public static func start(config: ServerConfig, log: Log = Log()) async throws -> Node {
        try await start(config: config, log: log, engine: GameEngine.self)
    }
}
