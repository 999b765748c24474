namespace Cairn.Server;

/// <summary>Whether a server serves.</summary>
/// <param name="IsReady">Whether clients should be sent to it now.</param>
/// <param name="Reason">In words: ready, or why not.</param>
public sealed record ServerHealth(bool IsReady, string Reason);
