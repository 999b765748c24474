using Cairn.Caching.Coherence;

namespace Cairn.Caching.Tests.Coherence;

/// <summary>A store with two openings, as of two processes, with a coherence and the values that are held above it.</summary>
internal sealed class CoherentStore : IDisposable
{
    private readonly StoreDirectory _directory = new();

    public CoherentStore()
    {
        Store = CairnStore.Open(_directory.Options);
        Other = CairnStore.Open(_directory.Options);
        Coherence = new StoreCoherence(Store);
        Coherence.Attach(Held);
    }

    public CairnStore Store { get; }

    /// <summary>Gets the opening of the other process.</summary>
    public CairnStore Other { get; }

    public ICoherence Coherence { get; private set; }

    public HeldValues Held { get; private set; } = new();

    public string FilePath => _directory.FilePath;

    /// <summary>Starts again with another coherence and without values.</summary>
    public void Use(ICoherence coherence)
    {
        Coherence = coherence;
        Held = new HeldValues();
        coherence.Attach(Held);
    }

    /// <summary>Returns the value that a hit finds; null for none.</summary>
    public long? Find(ulong hash)
    {
        Assert.True(Coherence.TryCatchUp(hash));
        return Held.TryFind(hash, out long value) ? value : null;
    }

    public bool Keep(in ChangeMark mark, ulong hash, long value, int ownChanges = 0) =>
        Coherence.TryKeep(mark, hash, ownChanges, (Held, hash, value), static state =>
        {
            state.Held.Keep(state.hash, state.value);
            return true;
        });

    public void Dispose()
    {
        Other.Dispose();
        Store.Dispose();
        _directory.Dispose();
    }
}
