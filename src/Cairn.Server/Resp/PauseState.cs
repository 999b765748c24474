namespace Cairn.Server.Resp;

/// <summary>Commands have to wait.</summary>
/// <param name="UntilMs">When they go on, in the clock's milliseconds.</param>
/// <param name="IsWritesOnly">Only those that change something.</param>
internal sealed record PauseState(long UntilMs, bool IsWritesOnly);
