namespace Cairn.Eviction.Dueling;

/// <summary>Requests of watched keys. If their shares of misses and of returning keys have not changed, the workload is probably the same.</summary>
[StructLayout(LayoutKind.Auto)]
internal struct WatchedRequests
{
    private const int Fewest = 256;
    private const double Deviations = 3;
    private const double LeastChange = 0.01;

    public double Requests { get; private set; }

    public double Misses { get; private set; }

    /// <summary>The misses of keys that also missed lately. A loop that follows a scan changes them, but not the misses.</summary>
    public double Returns { get; private set; }

    public void AddHit() => Requests++;

    public void AddMiss(bool returns)
    {
        Requests++;
        Misses++;
        Returns += returns ? 1 : 0;
    }

    public void Add(in WatchedRequests other)
    {
        Requests += other.Requests;
        Misses += other.Misses;
        Returns += other.Returns;
    }

    public void Halve()
    {
        Requests /= 2;
        Misses /= 2;
        Returns /= 2;
    }

    /// <summary>Returns whether a share has changed by more than chance explains. A comparison of few requests says nothing.</summary>
    public readonly bool DiffersFrom(in WatchedRequests other) =>
        Requests >= Fewest && other.Requests >= Fewest
        && (Differs(Misses, Requests, other.Misses, other.Requests) || Differs(Returns, Requests, other.Returns, other.Requests));

    private static bool Differs(double some, double all, double otherSome, double otherAll)
    {
        double share = (some + otherSome) / (all + otherAll);
        double deviation = Math.Sqrt(share * (1 - share) * ((1 / all) + (1 / otherAll)));
        return Math.Abs((some / all) - (otherSome / otherAll)) > (Deviations * deviation) + LeastChange;
    }
}
