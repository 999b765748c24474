using System.Globalization;
using System.Text;
using Cairn.Concurrency;
using Cairn.Indexing;
using Cairn.Keys;
using Cairn.Storage;

namespace Cairn.TortureTests.Interleavings;

/// <summary>
/// A key in a full store, whose entry the next few sets of other keys evict, or move if it was used, and whose bytes they then
/// overwrite. All of it is done by the store itself.
/// </summary>
internal sealed unsafe class EvictedEntry
{
    // Of the entry as of the fillers, so that each segment is used from end to end: three fit.
    private const int ValueBytes = 1_000;
    private const int Uses = 3;

    // Far more than it takes.
    private const int MostFillers = 2_000;
    private const int MostSets = 20;

    private readonly Stage _stage;
    private int _filler;

    /// <summary>Fills the store until the next sets take the entry's segment apart; that is the stage's beginning.</summary>
    public EvictedEntry(Stage stage, bool isUsed)
    {
        _stage = stage;
        Fill(() => stage.Store.GetStatistics().Evictions > 0);
        stage.Store.Set(Key, Value);
        Use(isUsed ? Uses : 0, Key);
        stage.Keep();
        int first = _filler;
        byte* place = Place();
        int gone = Fill(() => Place() != place);

        // Again, up to the last set that leaves it where it is.
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

    /// <summary>Steps of the sets that change nothing a reader of the entry looks at.</summary>
    public static IReadOnlyList<ProtocolStep> Quiet { get; } =
    [
        ProtocolStep.LockSeenFree, ProtocolStep.TailStored, ProtocolStep.CountersStored, ProtocolStep.RingCellStored,
        ProtocolStep.RingPositionStored, ProtocolStep.SegmentOpened, ProtocolStep.SegmentSealed, ProtocolStep.SegmentTaken,
    ];

    public CairnStore Store => _stage.Store;

    /// <summary>The key; it does not move in memory.</summary>
    public byte[] Key { get; } = Stage.PinnedKey("evicted");

    public byte[] Value { get; } = [.. Enumerable.Range(1, ValueBytes).Select(i => (byte)i)];

    public KeyRef Ref => Stage.RefOf(Store, Key);

    /// <summary>How many sets it takes until the entry is evicted or moved, and its bytes are overwritten.</summary>
    public int Sets { get; }

    /// <summary>The sets that do it.</summary>
    public void Evict()
    {
        for (int i = 0; i < Sets; i++)
        {
            Set(_filler + i);
        }
    }

    /// <summary>What is wrong with the store when all is over.</summary>
    public string? FindFault(bool areBooksExact = true)
    {
        long damaged = Store.GetStatistics().DamagedEntries;
        IReadOnlyList<string> faults = StoreAudit.FindFaults(Store, areBooksExact);
        return damaged > 0 ? $"{damaged} damaged entries were met." : faults.Count > 0 ? faults[0] : null;
    }

    // The number of sets until it is true.
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

    // Some fillers are used and survive: else the first segment that became spare would stay at the bottom of the spares.
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
        Assert.True(Store.Set(NameOf(filler), value));
    }

    private void Use(int times, ReadOnlySpan<byte> key)
    {
        Span<byte> copy = stackalloc byte[ValueBytes];
        for (int i = 0; i < times; i++)
        {
            Assert.True(Store.TryGet(key, copy, out int _));
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
