using Cairn.Platform;

namespace Cairn.Storage;

/// <summary>The time with which deadlines are compared: Unix milliseconds of the wall clock.</summary>
/// <remarks>
/// The store uses the wall clock because it can be opened again after a restart of the machine. If the clock is set back, entries live longer by that time.
/// If it is set forward, they expire early. Removed entries stay removed in both cases.
/// </remarks>
internal sealed class StoreClock(TimeProvider provider, StorePlatform platform)
{
    // Longer than the clock of the last timer tick is late. A tick takes at most 10 ms, but the host of a virtual machine can hold it back.
    private const long TickMarginMs = 100;

    // Null if the caller provides the time.
    private readonly StorePlatform? _ticks = ReferenceEquals(provider, TimeProvider.System) ? platform : null;

    public long NowMs() => provider.GetUtcNow().ToUnixTimeMilliseconds();

    /// <summary>Returns whether a deadline passed, <paramref name="agoMs"/> milliseconds ago or earlier.</summary>
    /// <remarks>Mostly takes 5 ns instead of 25 ns, because most deadlines are so far away that the time of the last timer tick decides.</remarks>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool HasPassed(long deadline, long agoMs = 0) =>
        (_ticks is not { } ticks || deadline <= ticks.TickUnixMs - agoMs + TickMarginMs) && deadline <= NowMs() - agoMs;
}
