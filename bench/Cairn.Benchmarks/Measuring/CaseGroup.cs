namespace Cairn.Benchmarks.Measuring;

// Contenders measured in the same rounds, the questions asked of them, and what they share (stores, dictionaries),
// which is disposed of with the group, last made first.
internal sealed class CaseGroup(RunLog log) : IDisposable
{
    private readonly Stack<IDisposable> _owned = [];
    private readonly List<IContender> _contenders = [];
    private readonly List<Comparison> _comparisons = [];

    public IReadOnlyList<IContender> Contenders => _contenders;

    public IReadOnlyList<Comparison> Comparisons => _comparisons;

    /// <summary>Keeps <paramref name="resource"/> until the group ends.</summary>
    public T Own<T>(T resource)
        where T : IDisposable
    {
        _owned.Push(resource);
        return resource;
    }

    /// <summary>Lets <paramref name="contender"/> take part in every round.</summary>
    public T Enter<T>(T contender)
        where T : IContender
    {
        _contenders.Add(Own(contender));
        return contender;
    }

    /// <summary>Makes a peer that this machine may not have; then its comparisons are left out and a message says so.</summary>
    public T? MakePeer<T>(Func<T> make)
        where T : class, IDisposable
    {
        try
        {
            return Own(make());
        }
        catch (PeerUnavailableException unavailable)
        {
            log.Say(unavailable.Message);
            return null;
        }
    }

    /// <summary>Asks how <paramref name="subject"/> does against a peer, if the peer is there.</summary>
    public void Compare(
        string name, IContender subject, IContender? peer, Goal? goal = null, Quantity quantity = Quantity.CpuTime)
    {
        if (peer is not null)
        {
            _comparisons.Add(new Comparison(name, subject, peer, quantity, goal));
        }
    }

    /// <summary>Asks for no managed allocation at all.</summary>
    public void ExpectNoAllocation(string name, IContender subject) =>
        _comparisons.Add(new Comparison(name, subject, Against: null, Quantity.Allocation, Goal.AtMost(0)));

    public void Dispose()
    {
        while (_owned.TryPop(out var resource))
        {
            resource.Dispose();
        }
    }
}
