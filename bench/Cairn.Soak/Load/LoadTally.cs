namespace Cairn.Soak.Load;

/// <summary>The counts of a piece. All threads add to them.</summary>
internal sealed class LoadTally
{
    private const int MostFaults = 100;

    private readonly Lock _lock = new();
    private readonly List<string> _faults = [];
    private long _requests;
    private long _connections;
    private long _brokenConnections;
    private long _refusals;

    public long Requests => Interlocked.Read(ref _requests);

    public long Connections => Interlocked.Read(ref _connections);

    public long BrokenConnections => Interlocked.Read(ref _brokenConnections);

    public long Refusals => Interlocked.Read(ref _refusals);

    public IReadOnlyList<string> Faults
    {
        get
        {
            lock (_lock)
            {
                return [.. _faults];
            }
        }
    }

    public void CountRequest() => Interlocked.Increment(ref _requests);

    public void CountConnection() => Interlocked.Increment(ref _connections);

    public void CountBrokenConnection() => Interlocked.Increment(ref _brokenConnections);

    public void CountRefusal() => Interlocked.Increment(ref _refusals);

    public void AddFault(string fault)
    {
        lock (_lock)
        {
            if (_faults.Count < MostFaults)
            {
                _faults.Add(fault);
            }
        }
    }
}
