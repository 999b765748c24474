using System.Globalization;
using System.Text;
using Cairn.Indexing;
using Cairn.Keys;
using Cairn.Steps;
using Cairn.Storage;

namespace Cairn.TortureTests.Interleavings;

/// <summary>
/// A key in a full store. The next few sets of other keys evict its entry, or move it if it was used, and then overwrite its bytes. The
/// store itself performs all of this.
/// </summary>
internal sealed unsafe class EvictedEntry
{
    // The size of the entry and of the fillers, in bytes. Three of them fill a segment completely.
    private const int ValueBytes = 1_000;
    private const int Uses = 3;

    // Upper bounds, far above the numbers that are needed.
    private const int MostFillers = 2_000;
    private const int MostSets = 20;

    private readonly Stage _stage;
    private int _filler;

    /// <summary>Fills the store until the next sets reclaim the entry's segment. That state is the stage's beginning.</summary>
    public EvictedEntry(Stage stage, bool isUsed)
    {
        _stage = stage;
        Fill(() => stage.Store.GetStatistics().Totals.Evictions > 0);
        stage.Store.DefaultCollection.Set(Key, Value);
        Use(isUsed ? Uses : 0, Key);
        stage.Keep();
        int first = _filler;
        byte* place = Place();
        int gone = Fill(() => Place() != place);

        // Repeats the sets up to the last one that leaves the entry in place.
        stage.Reset();
        _filler = first;
        for (int i = 1; i < gone; i++)
        {
            Fill();
        }

        stage.Keep();
        Assert.True(Place() == place);
        while (IsThere(place))
        {
            Assert.True(Sets < MostSets, "The bytes are not used again.");
            Set(_filler + Sets++);
        }

        Assert.Equal(isUsed, Place() != null);
        Assert.True(Place() != place);
        stage.Reset();
    }

    /// <summary>Gets the steps of the sets that change nothing that a reader of the entry reads.</summary>
    public static IReadOnlyList<ProtocolStep> Quiet { get; } =
    [
        ProtocolStep.LockSeenFree, ProtocolStep.TailStored, ProtocolStep.CountersStored, ProtocolStep.RingCellStored,
        ProtocolStep.RingPositionStored, ProtocolStep.SegmentOpened, ProtocolStep.SegmentSealed, ProtocolStep.SegmentTaken,
    ];

    public CairnStore Store => _stage.Store;

    /// <summary>Gets the key, pinned in memory.</summary>
    public byte[] Key { get; } = Stage.PinnedKey("evicted");

    public byte[] Value { get; } = [.. Enumerable.Range(1, ValueBytes).Select(i => (byte)i)];

    public KeyRef Ref => Stage.RefOf(Store, Key);

    /// <summary>Gets the number of sets until the entry is evicted or moved and its bytes are overwritten.</summary>
    public int Sets { get; }

    /// <summary>Performs these sets.</summary>
    public void Evict()
    {
        for (int i = 0; i < Sets; i++)
        {
            Set(_filler + i);
        }
    }

    /// <summary>Returns the fault of the store at the end, or <see langword="null"/> if it has none.</summary>
    public string? FindFault(bool areBooksExact = true)
    {
        long damaged = Store.GetStatistics().Totals.DamagedEntries;
        IReadOnlyList<string> faults = StoreAudit.FindFaults(Store, areBooksExact);
        return damaged > 0 ? $"{damaged} damaged entries were met." : faults.Count > 0 ? faults[0] : null;
    }

    // Returns the number of sets until the condition is true.
    private int Fill(Func<bool> isEnough)
    {
        for (int sets = 1; sets < MostFillers; sets++)
        {
            Fill();
            if (isEnough())
            {
                return sets;
            }
        }

        throw new InvalidOperationException("The store is never full.");
    }

    // Some fillers are used and survive. Otherwise the first segment that became spare would stay at the bottom of the spare segments.
    private void Fill()
    {
        int filler = _filler++;
        Set(filler);
        Use(filler % 4 == 0 ? Uses : 0, NameOf(filler));
    }

    private void Set(int filler)
    {
        Span<byte> value = stackalloc byte[ValueBytes];
        value.Fill(0xEE);
        Assert.True(Store.DefaultCollection.Set(NameOf(filler), value));
    }

    private void Use(int times, ReadOnlySpan<byte> key)
    {
        Span<byte> copy = stackalloc byte[ValueBytes];
        for (int i = 0; i < times; i++)
        {
            Assert.True(Store.DefaultCollection.TryGet(key, copy, out int _));
        }
    }

    private static byte[] NameOf(int filler) => Encoding.ASCII.GetBytes(string.Create(CultureInfo.InvariantCulture, $"filler {filler}"));

    private byte* Place() =>
        HashIndex.FindLocked(Store.Engine.Memory, Ref.Place, Ref.Bytes, Ref.Length, 0, out Located located) ? located.Entry.Start : null;

    private bool IsThere(byte* place)
    {
        var entry = new EntryView(place);
        return entry.ValueLength == Value.Length && new Span<byte>(entry.Value, Value.Length).SequenceEqual(Value);
    }
}
