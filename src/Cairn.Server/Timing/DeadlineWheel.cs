// Determines when connections must be checked for time-outs. Time-outs are many and rarely fire, so they must cost nothing per request. A
// connection with a time-out is in the wheel once, at the earliest time at which something may be due. At that time the worker checks the
// connection and schedules it again. A deadline that no longer applies is not removed; the check finds nothing due.
//
//   I1  An entry is in at most one slot: the one of its due time, or the last slot of the horizon if the due time is later.
//   I2  An entry can be moved to an earlier time at any moment. A later time takes effect after the earlier one has passed.
//   I3  Entries of a closed connection are removed, so a deadline alone keeps no object alive.
namespace Cairn.Server.Timing;

/// <summary>A connection's entry in the wheel.</summary>
internal sealed class DeadlineEntry<TConnection>(TConnection connection)
    where TConnection : class
{
    public TConnection Connection { get; } = connection;

    internal long DueMs { get; set; } = long.MaxValue;

    internal int Slot { get; set; } = -1;

    internal DeadlineEntry<TConnection>? Previous { get; set; }

    internal DeadlineEntry<TConnection>? Next { get; set; }
}

internal sealed class DeadlineWheel<TConnection>
    where TConnection : class
{
    public const int GranularityMs = 100;
    private const int Slots = 512;
    private const int HorizonMs = (Slots - 1) * GranularityMs;

    private readonly DeadlineEntry<TConnection>?[] _slots = new DeadlineEntry<TConnection>?[Slots];
    private readonly ulong[] _occupied = new ulong[Slots / 64];
    private long _position; // In granules. Slots up to here are empty.

    public DeadlineWheel(long nowMs) => _position = nowMs / GranularityMs;

    /// <summary>Schedules a check of the connection at this time, or before.</summary>
    public void Schedule(DeadlineEntry<TConnection> entry, long dueMs, long nowMs)
    {
        if (entry.DueMs <= dueMs)
        {
            return; // I2
        }

        Remove(entry);
        entry.DueMs = dueMs;
        long due = Math.Min(dueMs, nowMs + HorizonMs);

        // Rounded up, because an earlier check would find nothing due.
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

    public void Remove(DeadlineEntry<TConnection> entry)
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

    /// <summary>Removes and returns an entry whose time has come; null if there is none (left).</summary>
    public DeadlineEntry<TConnection>? TakeDue(long nowMs)
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

            // All these slots are empty. Skipping them saves a long walk after a long sleep.
            _position = NextOccupied() is { } next && next <= now ? next - 1 : now;
        }

        return null;
    }

    /// <summary>Returns the milliseconds until an entry may be due; -1 if there is none.</summary>
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
