namespace Cairn.Server.Hosting;

/// <summary>
/// Tells when a store is found to be damaged. Damaged entries are removed and missed by nobody for long; but while more and more are found,
/// the file is not to be trusted.
/// </summary>
internal sealed class DamageWatch
{
    private const long TrustAfterMs = 60_000;

    private readonly Lock _lock = new();
    private long _damaged = -1;
    private long _foundAtMs = long.MinValue;

    /// <summary>The health of a store in which so many damaged entries have been found so far.</summary>
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
