namespace Cairn.Server.Resp;

/// <summary>A pause of commands.</summary>
/// <param name="UntilMs">The end of the pause, in the clock's milliseconds.</param>
/// <param name="IsWritesOnly">Whether only commands that change something wait.</param>
internal sealed record PauseState(long UntilMs, bool IsWritesOnly);
