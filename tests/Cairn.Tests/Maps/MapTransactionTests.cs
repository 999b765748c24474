namespace Cairn.Tests.Maps;

/// <summary>Transactions over keys and values of several maps.</summary>
public sealed class MapTransactionTests : StoreTest
{
    private PersistentMap<string, int> Stock => Store.Map<string, int>("stock");

    private PersistentMap<int, string> Orders => Store.Map<int, string>("orders");

    [Fact]
    public void Writes_to_several_maps_happen_together_at_the_commit()
    {
        Stock["Dune"] = 3;
        Orders[7] = "Emma";
        using StoreTransaction sale = Store.BeginTransaction();

        sale.Set(Stock, "Dune", sale.Get(Stock, "Dune") - 1).Remove(Orders, 7).Set(Orders, 8, "Dune");
        Assert.Equal(3, Stock["Dune"]);
        Assert.True(sale.Commit());

        Assert.Equal(2, Stock["Dune"]);
        Assert.Equal([KeyValuePair.Create(8, "Dune")], Orders.GetAll());
    }

    [Fact]
    public void Transaction_that_is_disposed_without_a_commit_changes_nothing()
    {
        Stock["Dune"] = 3;
        using (StoreTransaction sale = Store.BeginTransaction())
        {
            sale.Set(Stock, "Dune", 2).Set(Orders, 8, "Dune");
        }

        Assert.Equal(3, Stock["Dune"]);
        Assert.Empty(Orders);
    }

    [Fact]
    public void Transaction_reads_its_own_writes()
    {
        Stock["Dune"] = 3;
        using StoreTransaction sale = Store.BeginTransaction();

        sale.Set(Stock, "Dune", 2).Set(Stock, "Emma", 5, Expiration.At(Clock.GetUtcNow().AddSeconds(-1)));

        Assert.Equal(2, sale.Get(Stock, "Dune"));
        Assert.False(sale.TryGet(Stock, "Emma", out _));
        sale.Remove(Stock, "Dune");
        Assert.False(sale.TryGet(Stock, "Dune", out _));
    }

    [Theory]
    [InlineData("changed")]
    [InlineData("removed")]
    [InlineData("added")]
    public void Conflict_names_the_key_that_another_writer_has_changed_and_changes_nothing(string change)
    {
        Stock["Dune"] = 3;
        using StoreTransaction sale = Store.BeginTransaction();
        sale.Set(Orders, sale.Get(Stock, "Dune") + sale.Get(Stock, "Emma"), "Dune");
        switch (change)
        {
            case "changed":
                Stock["Dune"] = 3;
                break;
            case "removed":
                Stock.Remove("Dune");
                break;
            default:
                Stock["Emma"] = 1;
                break;
        }

        StoreConflictException conflict = Assert.Throws<StoreConflictException>(() => sale.Commit());

        string key = change == "added" ? "Emma" : "Dune";
        Assert.Equal(key, conflict.Key);
        Assert.Equal("stock", conflict.MapName);
        Assert.Contains($"'{key}' of the map 'stock'", conflict.Message, StringComparison.Ordinal);
        Assert.Empty(Orders);
    }

    [Fact]
    public async Task Conflict_is_the_same_for_an_asynchronous_commit()
    {
        using StoreTransaction sale = Store.BeginTransaction();
        sale.Set(Orders, sale.Get(Stock, "Dune"), "Dune");
        Stock["Dune"] = 1;

        await Assert.ThrowsAsync<StoreConflictException>(() => sale.CommitAsync().AsTask());
    }

    [Fact]
    public void Condition_of_the_caller_that_is_not_met_is_no_exception()
    {
        Stock["Dune"] = 3;
        using StoreTransaction sale = Store.BeginTransaction();
        sale.Get(Stock, "Dune");
        sale.Require(Store.Collection("orders", new CollectionOptions { Region = StoreRegion.Keep }), "key", version: 1);

        Assert.False(sale.Commit());
    }

    [Fact]
    public void Keys_that_were_only_written_never_conflict()
    {
        using StoreTransaction sale = Store.BeginTransaction();
        sale.Set(Stock, "Dune", 2);
        Stock["Dune"] = 1;

        Assert.True(sale.Commit());

        Assert.Equal(2, Stock["Dune"]);
    }

    [Fact]
    public async Task Transfers_of_many_threads_that_begin_again_after_a_conflict_lose_nothing()
    {
        PersistentMap<int, int> accounts = Store.Map<int, int>("accounts");
        for (int i = 0; i < 4; i++)
        {
            accounts[i] = 100;
        }

        await Task.WhenAll(Enumerable.Range(0, 3).Select(seed => OwnThread.Run(() =>
        {
            var random = new Random(seed);
            for (int done = 0; done < 100;)
            {
                int from = random.Next(4);
                int to = (from + 1 + random.Next(3)) % 4;
                using StoreTransaction transfer = Store.BeginTransaction();
                transfer.Set(accounts, from, transfer.Get(accounts, from) - 1).Set(accounts, to, transfer.Get(accounts, to) + 1);
                try
                {
                    Assert.True(transfer.Commit());
                    done++;
                }
                catch (StoreConflictException)
                {
                    // The next round reads the new values.
                }
            }
        })));

        Assert.Equal(400, accounts.GetAllValues().Sum());
    }

    [Fact]
    public void Map_of_another_store_or_one_that_evicts_takes_no_part()
    {
        using StoreTransaction sale = Store.BeginTransaction();
        using PersistentMap<string, int> other = PersistentMap.OpenInMemory<string, int>();
        PersistentMap<string, int> pages = Store.Map("pages", new MapOptions<string, int> { Region = StoreRegion.Evict });

        var foreign = Assert.Throws<ArgumentException>(() => sale.Set(other, "Dune", 1));
        Assert.Contains("'map' is of another store", foreign.Message, StringComparison.Ordinal);
        Assert.Contains("from the store that began it", foreign.Message, StringComparison.Ordinal);
        Assert.Throws<ArgumentException>(() => sale.Get(pages, "Dune"));
    }
}
