using System.Globalization;

namespace Cairn.TortureTests.Histories;

/// <summary>The effect of an operation on the history of a key.</summary>
internal enum Effect
{
    None = 0,

    /// <summary>The operation found the value.</summary>
    Read = 1,

    /// <summary>The operation stored the value.</summary>
    Wrote = 2,

    /// <summary>The operation left no value: a removal, a clear, or a declined write that removed the old value.</summary>
    Removed = 3,

    /// <summary>The operation was a factory, which created the value from the source as it was when the factory began.</summary>
    Made = 4,
}

/// <summary>One operation on one key, with the times between which it happened.</summary>
/// <param name="Key">The key.</param>
/// <param name="Effect">The effect; for a pending operation, the intended effect.</param>
/// <param name="Value">The number of the value.</param>
/// <param name="Start">The time of the call.</param>
/// <param name="End">The time of the return; for a pending operation, a time at which its process was dead.</param>
/// <param name="Worker">The number of the worker.</param>
/// <param name="IsPending">Whether the operation never returned: it happened before <paramref name="End"/>, or not at all.</param>
internal readonly record struct Operation(
    int Key, Effect Effect, long Value, long Start, long End, int Worker, bool IsPending = false)
{
    public override string ToString() => string.Create(
        CultureInfo.InvariantCulture,
        $"worker {Worker}: {Effect}{(Effect == Effect.Removed ? "" : $" {Value}")} [{Start}, {End}]{(IsPending ? " pending" : "")}");
}
