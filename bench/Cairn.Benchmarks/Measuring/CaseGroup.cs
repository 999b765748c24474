namespace Cairn.Benchmarks.Measuring;

// Contenders that are measured in the same rounds, the questions about them, and the resources that they share (stores,
// dictionaries). The group disposes the resources in reverse order of creation.
internal sealed class CaseGroup(RunLog log) : IDisposable
{
    private readonly Stack<IDisposable> _owned = [];
    private readonly List<IContender> _contenders = [];
    private readonly List<Comparison> _comparisons = [];

    public IReadOnlyList<IContender> Contenders => _contenders;

    public IReadOnlyList<Comparison> Comparisons => _comparisons;

    /// <summary>Keeps <paramref name="resource"/> and disposes it at the end of the group.</summary>
    public T Own<T>(T resource)
        where T : IDisposable
    {
        _owned.Push(resource);
        return resource;
    }

    /// <summary>Adds <paramref name="contender"/> to every round.</summary>
    public T Enter<T>(T contender)
        where T : IContender
    {
        _contenders.Add(Own(contender));
        return contender;
    }

    /// <summary>Creates a peer that may be unavailable on this machine. In that case its comparisons are left out, with a message.</summary>
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

    /// <summary>Adds a comparison of <paramref name="subject"/> with a peer, if the peer is available.</summary>
    public void Compare(
        string name, IContender subject, IContender? peer, Goal? goal = null, Quantity quantity = Quantity.CpuTime)
    {
        if (peer is not null)
        {
            _comparisons.Add(new Comparison(name, subject, peer, quantity, goal));
        }
    }

    /// <summary>Adds the expectation that <paramref name="subject"/> allocates no managed memory.</summary>
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
