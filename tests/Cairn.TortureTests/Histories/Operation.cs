using System.Globalization;

namespace Cairn.TortureTests.Histories;

/// <summary>What an operation did to a key, as far as its history is concerned.</summary>
internal enum Effect
{
    None = 0,

    /// <summary>It found the value.</summary>
    Read = 1,

    /// <summary>It stored the value.</summary>
    Wrote = 2,

    /// <summary>It left no value: removed, cleared, or a write that was declined and took the old value along.</summary>
    Removed = 3,

    /// <summary>It was a factory, which made the value of what it saw when it began.</summary>
    Made = 4,
}

/// <summary>One operation on one key, with the times between which it happened.</summary>
/// <param name="Key">The key.</param>
/// <param name="Effect">What it did; of a pending one, what it was about to do.</param>
/// <param name="Value">The number of the value.</param>
/// <param name="Start">When it was called.</param>
/// <param name="End">When it returned; of a pending one, when its process was dead.</param>
/// <param name="Worker">Who did it.</param>
/// <param name="IsPending">It never returned: it happened before <paramref name="End"/>, or not at all.</param>
internal readonly record struct Operation(
    int Key, Effect Effect, long Value, long Start, long End, int Worker, bool IsPending = false)
{
    public override string ToString() => string.Create(
        CultureInfo.InvariantCulture,
        $"worker {Worker}: {Effect}{(Effect == Effect.Removed ? "" : $" {Value}")} [{Start}, {End}]{(IsPending ? " pending" : "")}");
}
