namespace Cairn.Tests.Encryption;

/// <summary>Maps in an encrypted store return the values that were put, by every operation.</summary>
public sealed class EncryptedMapTests : StoreTest
{
    private StoreOptions Encrypted => Options with { Encryption = StoreEncryption.FromKey(TestBytes.Of(StoreEncryption.KeyBytes)) };

    [Fact]
    public void A_map_of_numbers_is_as_without_encryption()
    {
        using (CairnStore store = CairnStore.Open(Encrypted))
        {
            PersistentMap<int, long> map = store.Map<int, long>("numbers");
            for (int i = 0; i < 1_000; i++)
            {
                map[i] = i;
                map[i] = i * 3L;
            }

            map.Remove(7);
        }

        PersistentMap<int, long> again = Open(Encrypted).Map<int, long>("numbers");

        Assert.Equal(999, again.Count);
        Assert.False(again.Contains(7));
        Assert.Equal(Enumerable.Range(0, 1_000).Where(i => i != 7).Select(i => (i, i * 3L)), again.Select(pair => (pair.Key, pair.Value)).Order());
        Assert.Equal(3L * 999, again.GetAll()[999]);
        Assert.Equal(999, again.GetAllKeys().Distinct().Count());
        Assert.Equal(999, again.GetAllValues().Distinct().Count());
    }

    [Fact]
    public void A_map_of_texts_is_as_without_encryption()
    {
        PersistentMap<string, string> map = Open(Encrypted).Map<string, string>("texts");

        map.Set("book:42", "Dune");
        map.AddOrUpdate("book:42", "", (_, old) => old + "!");

        Assert.Equal("Dune!", map["book:42"]);
        Assert.Equal(("book:42", "Dune!"), map.Select(pair => (pair.Key, pair.Value)).Single());
    }
}
