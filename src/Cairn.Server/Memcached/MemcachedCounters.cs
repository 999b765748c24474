namespace Cairn.Server.Memcached;

/// <summary>The counts of the sessions of one worker. Only that worker writes. Other threads may read slightly stale numbers.</summary>
internal sealed class MemcachedCounters
{
    public long Gets;
    public long GetHits;
    public long GetMisses;
    public long GetExpired;
    public long GetFlushed;
    public long Sets;
    public long Touches;
    public long TouchHits;
    public long TouchMisses;
    public long DeleteHits;
    public long DeleteMisses;
    public long IncrHits;
    public long IncrMisses;
    public long DecrHits;
    public long DecrMisses;
    public long CasHits;
    public long CasMisses;
    public long CasMismatches;
    public long Flushes;
    public long MetaCommands;
    public long Authentications;
    public long AuthenticationErrors;
    public long TooLarge;
    public long NoMemory;
    public long Yields;

    /// <summary>Adds the counts of another instance, or subtracts them.</summary>
    public void Add(MemcachedCounters other, int sign = 1)
    {
        Gets += sign * Volatile.Read(ref other.Gets);
        GetHits += sign * Volatile.Read(ref other.GetHits);
        GetMisses += sign * Volatile.Read(ref other.GetMisses);
        GetExpired += sign * Volatile.Read(ref other.GetExpired);
        GetFlushed += sign * Volatile.Read(ref other.GetFlushed);
        Sets += sign * Volatile.Read(ref other.Sets);
        Touches += sign * Volatile.Read(ref other.Touches);
        TouchHits += sign * Volatile.Read(ref other.TouchHits);
        TouchMisses += sign * Volatile.Read(ref other.TouchMisses);
        DeleteHits += sign * Volatile.Read(ref other.DeleteHits);
        DeleteMisses += sign * Volatile.Read(ref other.DeleteMisses);
        IncrHits += sign * Volatile.Read(ref other.IncrHits);
        IncrMisses += sign * Volatile.Read(ref other.IncrMisses);
        DecrHits += sign * Volatile.Read(ref other.DecrHits);
        DecrMisses += sign * Volatile.Read(ref other.DecrMisses);
        CasHits += sign * Volatile.Read(ref other.CasHits);
        CasMisses += sign * Volatile.Read(ref other.CasMisses);
        CasMismatches += sign * Volatile.Read(ref other.CasMismatches);
        Flushes += sign * Volatile.Read(ref other.Flushes);
        MetaCommands += sign * Volatile.Read(ref other.MetaCommands);
        Authentications += sign * Volatile.Read(ref other.Authentications);
        AuthenticationErrors += sign * Volatile.Read(ref other.AuthenticationErrors);
        TooLarge += sign * Volatile.Read(ref other.TooLarge);
        NoMemory += sign * Volatile.Read(ref other.NoMemory);
        Yields += sign * Volatile.Read(ref other.Yields);
    }
}
