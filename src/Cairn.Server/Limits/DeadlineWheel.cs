// Which connections have to be looked at when. Time-outs are many and hardly ever fire, so keeping them must cost nothing
// per request: a connection that has any is in the wheel once, at the earliest time something may be due; when that time
// comes the worker looks, and puts it back at the next. A deadline that went away is not removed but found void then.
//
//   I1  An entry is in at most one slot, the one of its due time, or the last slot of the horizon if that is farther.
//   I2  Moving an entry to an earlier time is possible at any moment; a later one waits for the earlier to come.
//   I3  Entries of a closed connection are removed, so that nothing is kept for a deadline alone.
using System.Diagnostics;
using System.Numerics;
using Cairn.Server.Connections;

namespace Cairn.Server.Limits;

/// <summary>A connection's place in the wheel.</summary>
internal sealed class DeadlineEntry
{
    public DeadlineEntry(ClientConnection connection) => Connection = connection;

    public ClientConnection Connection { get; }

    internal long DueMs { get; set; } = long.MaxValue;

    internal int Slot { get; set; } = -1;

    internal DeadlineEntry? Previous { get; set; }

    internal DeadlineEntry? Next { get; set; }
}

internal sealed class DeadlineWheel
{
    public const int GranularityMs = 100;
    private const int Slots = 512;
    private const int HorizonMs = (Slots - 1) * GranularityMs;

    private readonly DeadlineEntry?[] _slots = new DeadlineEntry?[Slots];
    private readonly ulong[] _occupied = new ulong[Slots / 64];
    private long _position; // In granules: slots up to here are empty.

    public DeadlineWheel(long nowMs) => _position = nowMs / GranularityMs;

    /// <summary>Has the connection looked at when this time comes, or before.</summary>
    public void Schedule(DeadlineEntry entry, long dueMs, long nowMs)
    {
        if (entry.DueMs <= dueMs)
        {
            return; // I2
        }

        Remove(entry);
        entry.DueMs = dueMs;
        long due = Math.Min(dueMs, nowMs + HorizonMs);

        // Rounded up: looking too early would find nothing due.
        long granule = Math.Max((due + GranularityMs - 1) / GranularityMs, _position + 1);
        int slot = (int)(Math.Min(granule, _position + Slots - 1) % Slots);
        entry.Slot = slot;
        entry.Next = _slots[slot];
        if (entry.Next is { } next)
        {
            next.Previous = entry;
        }

        _slots[slot] = entry;
        _occupied[slot / 64] |= 1UL << (slot % 64);
    }

    public void Remove(DeadlineEntry entry)
    {
        int slot = entry.Slot;
        if (slot < 0)
        {
            return;
        }

        if (entry.Previous is { } previous)
        {
            previous.Next = entry.Next;
        }
        else
        {
            Debug.Assert(ReferenceEquals(_slots[slot], entry), "I1: it is the first of its slot.");
            _slots[slot] = entry.Next;
            if (entry.Next is null)
            {
                _occupied[slot / 64] &= ~(1UL << (slot % 64));
            }
        }

        if (entry.Next is { } next)
        {
            next.Previous = entry.Previous;
        }

        entry.Slot = -1;
        entry.DueMs = long.MaxValue;
        entry.Previous = entry.Next = null;
    }

    /// <summary>Takes out an entry whose time has come; null if there is none (any more).</summary>
    public DeadlineEntry? TakeDue(long nowMs)
    {
        long now = nowMs / GranularityMs;
        while (_position < now)
        {
            int slot = (int)((_position + 1) % Slots);
            if (_slots[slot] is { } entry)
            {
                Remove(entry);
                return entry;
            }

            // All empty: no need to walk there, which after a long sleep would be far.
            _position = NextOccupied() is { } next && next <= now ? next - 1 : now;
        }

        return null;
    }

    /// <summary>Milliseconds until an entry may be due; -1 if there is none.</summary>
    public int MillisecondsToNext(long nowMs) =>
        NextOccupied() is { } granule ? (int)Math.Clamp((granule * GranularityMs) - nowMs, 0, int.MaxValue) : -1;

    private long? NextOccupied()
    {
        int start = (int)((_position + 1) % Slots);
        for (int passed = 0; passed < Slots;)
        {
            int slot = (start + passed) % Slots;
            ulong word = _occupied[slot / 64] >> (slot % 64);
            if (word != 0)
            {
                return _position + 1 + passed + BitOperations.TrailingZeroCount(word);
            }

            passed += 64 - (slot % 64);
        }

        return null;
    }
}
