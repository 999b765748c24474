namespace Cairn.Storage;

/// <summary>The time with which deadlines are compared: Unix milliseconds of the wall clock.</summary>
/// <remarks>
/// The store uses the wall clock because it can be opened again after a restart of the machine. If the clock is set back, entries live longer by that time.
/// If it is set forward, they expire early. Removed entries stay removed in both cases.
/// </remarks>
internal sealed class StoreClock(TimeProvider provider)
{
    public long NowMs() => provider.GetUtcNow().ToUnixTimeMilliseconds();
}
