namespace Cairn.Simulation.Scale;

/// <summary>The versions of all keys, and what the reads of all machines returned.</summary>
internal sealed class ScaleSource(int keys)
{
    // When each version was acknowledged.
    private readonly List<long>[] _acknowledged = [.. Enumerable.Range(0, keys).Select(_ => new List<long>())];

    public long Reads { get; private set; }

    public long Changes { get; private set; }

    public long FactoryRuns { get; set; }

    /// <summary>Gets how long before its beginning each stale read's value had been replaced, in ticks.</summary>
    public List<long> Stale { get; } = [];

    /// <summary>Gets how long each read took that memory did not answer, in ticks.</summary>
    public List<long> Waits { get; } = [];

    public int VersionOf(int key) => _acknowledged[key].Count;

    public int Change(int key)
    {
        Changes++;
        _acknowledged[key].Add(long.MaxValue);
        return _acknowledged[key].Count;
    }

    public void Acknowledge(int key, int version, long now) => _acknowledged[key][version - 1] = now;

    public void OnRead(int key, long version, long beganAt, long now)
    {
        Reads++;
        if (now > beganAt)
        {
            Waits.Add(now - beganAt);
        }

        // The change that replaced this value is the next one.
        if (version < _acknowledged[key].Count && _acknowledged[key][(int)version] <= beganAt)
        {
            Stale.Add(beganAt - _acknowledged[key][(int)version]);
        }
    }

    public void Reset()
    {
        Reads = Changes = FactoryRuns = 0;
        Stale.Clear();
        Waits.Clear();
    }

    /// <summary>Returns a percentile of times in milliseconds; 0 if there are none.</summary>
    public static double Percentile(List<long> ticks, double part)
    {
        if (ticks.Count == 0)
        {
            return 0;
        }

        ticks.Sort();
        return ticks[Math.Min(ticks.Count - 1, (int)(ticks.Count * part))] / (double)TimeSpan.TicksPerMillisecond;
    }
}
