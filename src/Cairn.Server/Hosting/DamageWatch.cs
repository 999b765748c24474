namespace Cairn.Server.Hosting;

/// <summary>
/// Reports when a store turns out to be damaged. Damaged entries are removed, and their values are soon created again. But while more of
/// them are found, the file should not be trusted.
/// </summary>
internal sealed class DamageWatch
{
    private const long TrustAfterMs = 60_000;

    private readonly Lock _lock = new();
    private long _damaged = -1;
    private long _foundAtMs = long.MinValue;

    /// <summary>Returns the health of a store with this number of damaged entries found so far.</summary>
    public ServerHealth Look(long damaged, long nowMs)
    {
        lock (_lock)
        {
            if (_damaged >= 0 && damaged > _damaged)
            {
                _foundAtMs = nowMs;
            }

            _damaged = damaged;
            return _foundAtMs != long.MinValue && nowMs - _foundAtMs < TrustAfterMs
                ? new ServerHealth(false, "the store is damaged: damaged entries were found within the last minute; see 'cairn verify'")
                : new ServerHealth(true, "ready");
        }
    }
}
