namespace Cairn.Server;

/// <summary>The answer to a health check of a server.</summary>
/// <param name="IsReady">Whether clients should connect to the server now.</param>
/// <param name="Reason">The state in words: ready, or the reason why the server is not ready.</param>
public sealed record ServerHealth(bool IsReady, string Reason);
