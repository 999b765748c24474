namespace Cairn.Storage;

/// <summary>The time that deadlines are compared with: Unix milliseconds of the wall clock.</summary>
/// <remarks>
/// The wall clock, because a store closed cleanly may be opened after a restart of the machine. If it is set back, entries
/// live longer by as much; if it is set forward, they expire early. What was removed stays removed either way.
/// </remarks>
internal sealed class StoreClock(TimeProvider provider)
{
    public long NowMs() => provider.GetUtcNow().ToUnixTimeMilliseconds();
}
