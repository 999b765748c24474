using Xunit.Abstractions;

namespace Cairn.Tests.Offline;

/// <summary>
/// A page of a closed store is zero, as a faulty disk can leave it. Opening checks the structures that locate entries, but not the index and the
/// entries. Verifying finds the damage that opening does not find.
/// </summary>
public sealed class ZeroedPageTests(ITestOutputHelper output) : StoreTest
{
    private const int PageBytes = 4096;
    private const int Entries = 300;
    private const int Cases = 90;

    [Fact]
    public void Entry_that_a_zeroed_page_took_is_found_by_verifying_and_never_read_as_another_value()
    {
        StoreOptions options = Options with { CapacityBytes = 2L << 20, FlushOnClose = true };
        using (CairnStore store = Open(options))
        {
            CairnCollection books = store.Collection("books", new CollectionOptions { Region = StoreRegion.Keep, Durability = Durability.ProcessCrash });
            for (int i = 0; i < Entries; i++)
            {
                books.Set($"{i}", ValueOf(i));
            }
        }

        byte[] whole = File.ReadAllBytes(FilePath);
        int[] used = [.. Enumerable.Range(1, (whole.Length / PageBytes) - 1).Where(page => whole.AsSpan(page * PageBytes, PageBytes).ContainsAnyExcept((byte)0))];
        var random = new Random(1);
        int silent = 0;
        int found = 0;
        for (int i = 0; i < Cases; i++)
        {
            byte[] damaged = [.. whole];
            damaged.AsSpan(used[random.Next(used.Length)] * PageBytes, PageBytes).Clear();
            File.WriteAllBytes(FilePath, damaged);
            bool isFound = StoreMaintenance.Verify(FilePath).DamageCount > 0;
            using CairnStore store = Open(options);

            int lost = Enumerable.Range(0, Entries).Count(key => !IsWhole(store, key));

            Assert.True(lost == 0 || isFound, $"{lost} entries are lost, and verifying finds nothing.");
            found += isFound ? 1 : 0;
            silent += lost > 0 && store.Warnings.Count == 0 ? 1 : 0;
        }

        output.WriteLine($"{used.Length} pages are used. Of {Cases} zeroed, verifying found {found}; {silent} cost entries and opened without a warning.");
        Assert.True(silent > 0, "Opening notices everything: say so in docs/durability.md.");
    }

    private static bool IsWhole(CairnStore store, int key)
    {
        try
        {
            byte[]? value = store.Collection("books").Get($"{key}");
            Assert.True(value is null || value.AsSpan().SequenceEqual(ValueOf(key)));
            return value is not null;
        }
        catch (StoreCorruptException damage)
        {
            Assert.Contains($"'{key}'", damage.Message, StringComparison.Ordinal);
            return false;
        }
    }

    private static byte[] ValueOf(int key) => TestBytes.Of(1000, key);
}
