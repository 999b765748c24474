using Cairn.Engine;

namespace Cairn.Server.Memcached;

// When was an entry last used? The store keeps no times, but the versions of a partition only grow. So this class notes the versions of all
// partitions every second, and an entry was written between two notes. After a minute it keeps notes that are half a minute apart, after an
// hour ten minutes, for a day at most.
/// <summary>Estimates when entries were written and last read. Thread-safe.</summary>
internal sealed class WriteTimes : IDisposable
{
    private const long FineMs = 60_000;
    private const long MediumMs = 3_600_000;
    private const long LongestMs = 24 * MediumMs;
    private const long MediumStepMs = 30_000;
    private const long CoarseStepMs = 600_000;

    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(1);

    private readonly Lock _lock = new();
    private readonly StoreEngine _engine;
    private readonly TimeProvider _clock;
    private readonly ITimer _timer;
    private readonly List<(long AtMs, ulong[] Versions)> _notes = []; // The oldest first. Requires _lock.
    private bool _isDisposed; // Requires _lock.

    public WriteTimes(StoreEngine engine, TimeProvider clock)
    {
        _engine = engine;
        _clock = clock;
        Note();
        _timer = clock.CreateTimer(static state => ((WriteTimes)state!).Note(), this, Interval, Interval);
    }

    /// <summary>
    /// Returns the estimated seconds since an entry was last used. The last use of an entry that was never read is its write. That is exact
    /// to a second in the first minute, to half a minute in the first hour, and to ten minutes in the first day. Of an entry that was read, half of that time
    /// is returned. Entries from before the start of the server are as old as the server.
    /// </summary>
    /// <param name="partition">The entry's partition.</param>
    /// <param name="version">The entry's version.</param>
    /// <param name="wasRead">Whether the entry was read.</param>
    public long IdleSeconds(int partition, ulong version, bool wasRead)
    {
        lock (_lock)
        {
            long now = _clock.GetUtcNow().ToUnixTimeMilliseconds();
            long writtenAt = now;
            for (int i = _notes.Count - 1; i >= 0 && _notes[i].Versions[partition] >= version; i--)
            {
                writtenAt = _notes[i].AtMs;
            }

            return Math.Max(0, now - writtenAt) / (wasRead ? 2 : 1) / 1000;
        }
    }

    /// <summary>Notes the present versions. A timer calls it; tests call it after they have advanced the clock.</summary>
    public void Note()
    {
        lock (_lock)
        {
            if (_isDisposed)
            {
                return; // The store may be closed.
            }

            long now = _clock.GetUtcNow().ToUnixTimeMilliseconds();
            ulong[] versions = Thin(now) ?? new ulong[_engine.Memory.PartitionCount];
            for (int i = 0; i < versions.Length; i++)
            {
                versions[i] = _engine.VersionAt((long)i * _engine.Memory.Layout.BucketsPerPartition);
            }

            _notes.Add((now, versions));
        }
    }

    public void Dispose()
    {
        _timer.Dispose();
        lock (_lock)
        {
            _isDisposed = true; // From now on, no note reads the store.
        }
    }

    // Removes notes that are closer together than their age needs, or too old. Returns the memory of one of them.
    private ulong[]? Thin(long now)
    {
        ulong[]? free = null;
        for (int i = _notes.Count - 2; i >= 0; i--)
        {
            long age = now - _notes[i].AtMs;
            long step = age > MediumMs ? CoarseStepMs : age > FineMs ? MediumStepMs : 0;
            if (age > LongestMs || (i > 0 && step > 0 && _notes[i + 1].AtMs - _notes[i - 1].AtMs <= step))
            {
                free = _notes[i].Versions;
                _notes.RemoveAt(i);
            }
        }

        return free;
    }
}
