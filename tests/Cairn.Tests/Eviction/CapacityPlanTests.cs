using System.Text;

namespace Cairn.Tests.Eviction;

/// <summary>The rules of docs/how-to/capacity.md, with the entries of its example and a hundredth of their number.</summary>
public sealed class CapacityPlanTests
{
    private const int Entries = 50_000;
    private const int ValueBytes = 700;
    private const int EntryBytes = 776; // 20 of header, 12 of flags and deadline, 40 of key, 700 of value, rounded up to a multiple of 8.
    private const double WrittenOnce = 0.8;
    private const double WrittenAgain = 0.5;

    private static readonly Expiration s_lifetime = Expiration.After(TimeSpan.FromMinutes(30));

    [Fact]
    public void Entry_takes_the_bytes_that_the_guide_says()
    {
        using var directory = new StoreDirectory();
        using CairnStore store = Open(directory, WrittenAgain);

        store.DefaultCollection.Set(Key(1), new byte[ValueBytes], s_lifetime);

        Assert.Equal(EntryBytes, store.GetStatistics().Totals.Bytes);
    }

    [Fact]
    public void Entries_that_are_written_once_are_all_there_if_they_fill_no_more_than_the_guide_says()
    {
        using var directory = new StoreDirectory();
        using CairnStore store = Open(directory, WrittenOnce);

        WriteAll(store);

        Assert.Equal((0, Entries), (store.GetStatistics().Totals.Evictions, Count(store)));
    }

    [Fact]
    public void Entries_that_are_written_again_stay_if_they_fill_half_of_the_store()
    {
        using var directory = new StoreDirectory();
        using CairnStore store = Open(directory, WrittenAgain);
        var random = new Random(20261124);

        WriteAll(store);
        for (int write = 0; write < 10 * Entries; write++)
        {
            store.DefaultCollection.Set(Key(random.Next(Entries)), new byte[ValueBytes], s_lifetime);
        }

        Assert.InRange(Count(store), 0.999 * Entries, Entries);
    }

    private static CairnStore Open(StoreDirectory directory, double share) => CairnStore.Open(new StoreOptions
    {
        Path = directory.FilePath,
        CapacityBytes = (long)(Entries * EntryBytes / share),
        FlushOnClose = false,
    });

    private static void WriteAll(CairnStore store)
    {
        for (int i = 0; i < Entries; i++)
        {
            store.DefaultCollection.Set(Key(i), new byte[ValueBytes], s_lifetime);
        }
    }

    private static int Count(CairnStore store) => Enumerable.Range(0, Entries).Count(i => store.DefaultCollection.Contains(Key(i)));

    private static byte[] Key(int number) => Encoding.ASCII.GetBytes($"session:{number:x32}");
}
