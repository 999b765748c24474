using Cairn.WriteAhead;

namespace Cairn.Tests.WriteAhead;

/// <summary>Several writes that all happen or do not happen at all.</summary>
public sealed class TransactionTests : StoreTest
{
    private static readonly CollectionOptions Logged = new() { Region = StoreRegion.Keep };
    private static readonly CollectionOptions Unlogged = Logged with { Durability = Durability.ProcessCrash };

    [Fact]
    public void Nothing_is_there_before_the_commit_and_everything_after_it()
    {
        CairnCollection accounts = Store.Collection("accounts", Logged);
        CairnCollection orders = Store.Collection("orders", Logged);
        accounts.Set("old", [1]);
        StoreTransaction transaction = Store.BeginTransaction()
            .Set(accounts, "ann", [2])
            .Set(orders, "first", [3], Expiration.After(TimeSpan.FromHours(1)), flags: 7)
            .Set(accounts, "old", [4])
            .Remove(accounts, "never there");

        Assert.Null(accounts.Get("ann"));
        Assert.True(transaction.Commit());

        Assert.Equal([2], accounts.Get("ann"));
        Assert.Equal([3], orders.Get("first"));
        Assert.Equal([4], accounts.Get("old"));
        Assert.True(orders.TryGetInfo("first", out EntryInfo info));
        Assert.Equal(7u, info.Flags);
        Assert.Equal(1, LogReplay.Of(FilePath).Kinds.Count(kind => kind == LogKind.Transaction));
        LogReplay.Check(Store, accounts, orders);
        StoreAudit.Check(Store);
    }

    [Fact]
    public void Last_write_to_a_key_counts()
    {
        CairnCollection accounts = Store.Collection("accounts", Logged);
        accounts.Set("removed", [1]);

        Assert.True(Store.BeginTransaction()
            .Set(accounts, "a", [1]).Remove(accounts, "a").Set(accounts, "a"u8, [2])
            .Set(accounts, "removed", [2]).Remove(accounts, "removed")
            .Set(accounts, "past", [1], Expiration.At(Clock.GetUtcNow().AddSeconds(-1)))
            .Commit());

        Assert.Equal([2], accounts.Get("a"));
        Assert.Null(accounts.Get("removed"));
        Assert.Null(accounts.Get("past"));
        LogReplay.Check(Store, accounts);
    }

    [Fact]
    public void Requirement_that_does_not_hold_lets_nothing_happen()
    {
        CairnCollection accounts = Store.Collection("accounts", Logged);
        accounts.Set("ann", [1]);
        Assert.True(accounts.TryGetInfo("ann", out EntryInfo ann));
        StoreTransaction late = Store.BeginTransaction().Require(accounts, "ann", ann.Version).Set(accounts, "ann", [9]).Set(accounts, "bob", [9]);
        StoreTransaction absent = Store.BeginTransaction().Require(accounts, "ann", 0).Set(accounts, "bob", [9]);
        accounts.Set("ann", [2]);

        Assert.False(late.Commit());
        Assert.False(absent.Commit());

        Assert.Equal([2], accounts.Get("ann"));
        Assert.Null(accounts.Get("bob"));
        Assert.True(accounts.TryGetInfo("ann", out ann));
        Assert.True(Store.BeginTransaction().Require(accounts, "ann", ann.Version).Require(accounts, "bob", 0).Set(accounts, "bob", [3]).Commit());
        Assert.Equal([3], accounts.Get("bob"));
        LogReplay.Check(Store, accounts);
    }

    [Fact]
    public void Entry_that_has_expired_counts_as_absent()
    {
        CairnCollection accounts = Store.Collection("accounts", Logged);
        accounts.Set("a", [1], Expiration.After(TimeSpan.FromSeconds(5)));
        Assert.False(Store.BeginTransaction().Require(accounts, "a", 0).Set(accounts, "b", [1]).Commit());

        Clock.Advance(TimeSpan.FromSeconds(5));

        Assert.True(Store.BeginTransaction().Require(accounts, "a", 0).Set(accounts, "b", [1]).Commit());
    }

    [Fact]
    public void Transaction_of_many_segments_is_one_record()
    {
        CairnCollection accounts = Store.Collection("accounts", Logged);
        StoreTransaction transaction = Store.BeginTransaction();
        for (int i = 0; i < 1_000; i++)
        {
            transaction.Set(accounts, $"{i}", TestBytes.Of(i % 400, seed: i));
        }

        transaction.Set(accounts, "run", TestBytes.Of(300_000)).Set(accounts, "segment", TestBytes.Of(7_000));
        Assert.True(transaction.Commit());

        for (int i = 0; i < 1_000; i++)
        {
            Assert.Equal(TestBytes.Of(i % 400, seed: i), accounts.Get($"{i}"));
        }

        Assert.Equal(TestBytes.Of(300_000), accounts.Get("run"));
        LogReplay.Check(Store, accounts);
        StoreAudit.Check(Store);
    }

    [Fact]
    public void Transaction_that_finds_no_room_changes_nothing()
    {
        CairnCollection accounts = Store.Collection("accounts", Logged);
        accounts.Set("a", [1]);
        StoreTransaction tooMuch = Store.BeginTransaction().Set(accounts, "a", [2]);
        for (int i = 0; i < 20; i++)
        {
            tooMuch.Set(accounts, $"{i}", TestBytes.Of(700_000));
        }

        Assert.Throws<StoreFullException>(() => tooMuch.Commit());
        Assert.Equal([1], accounts.Get("a"));
        Assert.Null(accounts.Get("0"));

        StoreTransaction tooMany = Store.BeginTransaction().Set(accounts, "a", [2]);
        for (int i = 0; i < 20_000; i++)
        {
            tooMany.Set(accounts, $"{i}", TestBytes.Of(600));
        }

        Assert.Throws<StoreFullException>(() => tooMany.Commit());
        Assert.Equal([1], accounts.Get("a"));
        Assert.Null(accounts.Get("0"));
        Assert.True(accounts.Set("b", [3]));
        LogReplay.Check(Store, accounts);
        StoreAudit.Check(Store);
    }

    [Fact]
    public void Transaction_beyond_a_budget_changes_nothing()
    {
        CairnCollection accounts = Store.Collection("accounts", Logged with { BudgetBytes = 10_000 });
        accounts.Set("a", TestBytes.Of(5_000));

        Assert.Throws<StoreFullException>(
            () => Store.BeginTransaction().Set(accounts, "b", TestBytes.Of(3_000)).Set(accounts, "c", TestBytes.Of(3_000)).Commit());
        Assert.Null(accounts.Get("b"));
        Assert.True(Store.BeginTransaction().Remove(accounts, "a").Set(accounts, "b", TestBytes.Of(4_000)).Set(accounts, "c", TestBytes.Of(4_000)).Commit());

        LogReplay.Check(Store, accounts);
    }

    [Fact]
    public void Transaction_without_room_in_the_log_changes_nothing()
    {
        var platform = new FaultyPlatform();
        using CairnStore store = platform.OpenStore(Options);
        CairnCollection accounts = store.Collection("accounts", Logged);
        accounts.Set("a", [1]);
        platform.OnWrite = () => throw FaultyPlatform.Failed("Writing");

        Assert.Throws<StoreException>(() => store.BeginTransaction().Set(accounts, "a", [2]).Set(accounts, "b", TestBytes.Of(300_000)).Commit());

        platform.OnWrite = null;
        Assert.Equal([1], accounts.Get("a"));
        Assert.Null(accounts.Get("b"));
        LogReplay.Check(store, accounts);
        StoreAudit.Check(store);
    }

    [Fact]
    public void Transactions_of_collections_that_are_not_logged_have_no_record()
    {
        CairnCollection accounts = Store.Collection("accounts", Unlogged);

        Assert.True(Store.BeginTransaction().Set(accounts, "a", [1]).Set(accounts, "b", [2]).Commit());

        Assert.Equal([1], accounts.Get("a"));
        Assert.Empty(LogFileSet.Names(Cairn.Platform.HostPlatform.Current, FilePath));
    }

    [Fact]
    public void Only_kept_collections_of_the_same_store_take_part()
    {
        CairnCollection cache = Store.Collection("cache");
        CairnStore other = Open(Options with { Path = PathOf("other.cairn") });
        StoreTransaction transaction = Store.BeginTransaction();

        Assert.Throws<ArgumentException>(() => transaction.Set(Cache, "a", [1]));
        Assert.Throws<ArgumentException>(() => transaction.Set(cache, "a", [1]));
        Assert.Throws<ArgumentException>(() => transaction.Remove(cache, "a"));
        Assert.Throws<ArgumentException>(() => transaction.Require(cache, "a", 0));
        Assert.Throws<ArgumentException>(() => transaction.Set(other.Collection("accounts", Logged), "a", [1]));
        Assert.True(transaction.Commit());
        Assert.Throws<InvalidOperationException>(() => transaction.Commit());
        Assert.Throws<InvalidOperationException>(() => transaction.Set(cache, "a", [1]));
    }

    [Fact]
    public void Disposed_transaction_that_was_not_committed_changes_nothing()
    {
        CairnCollection accounts = Store.Collection("accounts", Logged);
        accounts.Set("ann", [1]);

        using (StoreTransaction transaction = Store.BeginTransaction())
        {
            transaction.Set(accounts, "ann", [2]).Set(accounts, "bob", [2]).Remove(accounts, "ann");
        }

        Assert.Equal([1], accounts.Get("ann"));
        Assert.Null(accounts.Get("bob"));
        LogReplay.Check(Store, accounts);
    }

    [Fact]
    public void Committed_transaction_stays_when_it_is_disposed()
    {
        CairnCollection accounts = Store.Collection("accounts", Logged);

        using (StoreTransaction transaction = Store.BeginTransaction())
        {
            Assert.True(transaction.Set(accounts, "ann", [1]).Commit());
        }

        Assert.Equal([1], accounts.Get("ann"));
        LogReplay.Check(Store, accounts);
    }

    [Fact]
    public async Task Ended_transaction_refuses_every_call_and_says_why()
    {
        CairnCollection accounts = Store.Collection("accounts", Logged);
        StoreTransaction committed = Store.BeginTransaction().Set(accounts, "ann", [1]);
        Assert.True(await committed.CommitAsync());
        StoreTransaction disposed = Store.BeginTransaction().Set(accounts, "ann", [2]);
        disposed.Dispose();
        disposed.Dispose();

        await ExpectRefusal<InvalidOperationException>(committed, "Commit was called");
        await ExpectRefusal<ObjectDisposedException>(disposed, "was disposed");
        committed.Dispose();
        await ExpectRefusal<ObjectDisposedException>(committed, "was disposed");
        Assert.Equal([1], accounts.Get("ann"));

        async Task ExpectRefusal<T>(StoreTransaction ended, string reason)
            where T : Exception
        {
            Assert.Contains(reason, Assert.Throws<T>(() => ended.Set(accounts, "ann", [3])).Message, StringComparison.Ordinal);
            Assert.Contains(reason, Assert.Throws<T>(() => ended.Remove(accounts, "ann")).Message, StringComparison.Ordinal);
            Assert.Contains(reason, Assert.Throws<T>(() => ended.Require(accounts, "ann", 0)).Message, StringComparison.Ordinal);
            Assert.Contains(reason, Assert.Throws<T>(() => ended.Commit()).Message, StringComparison.Ordinal);
            Assert.Contains(reason, (await Assert.ThrowsAsync<T>(async () => await ended.CommitAsync())).Message, StringComparison.Ordinal);
        }
    }

    [Fact]
    public void Refused_transaction_has_ended()
    {
        CairnCollection accounts = Store.Collection("accounts", Logged);
        using StoreTransaction transaction = Store.BeginTransaction().Require(accounts, "ann", 7).Set(accounts, "ann", [1]);

        Assert.False(transaction.Commit());

        Assert.Throws<InvalidOperationException>(() => transaction.Commit());
        Assert.Null(accounts.Get("ann"));
    }

    [Fact]
    public void Transaction_can_be_disposed_after_its_store()
    {
        CairnStore store = Open(Options with { Path = PathOf("other.cairn") });
        StoreTransaction transaction = store.BeginTransaction().Set(store.Collection("accounts", Logged), "ann", [1]);
        store.Dispose();

        Assert.Throws<ObjectDisposedException>(() => transaction.Commit());
        transaction.Dispose();
    }

    [Fact]
    public async Task Transaction_and_writes_are_awaited()
    {
        CairnCollection accounts = Store.Collection("accounts", Logged);

        Assert.True(await Store.BeginTransaction().Set(accounts, "a", [1]).Set(accounts, "b", [2]).CommitAsync());
        Assert.Equal(Store.Engine.WriteAhead.Tail, Store.Engine.WriteAhead.Durable);
        Assert.True(await accounts.SetDurablyAsync("c", [3]));
        Assert.True(await accounts.RemoveDurablyAsync("a"));
        Assert.False(await accounts.RemoveDurablyAsync("a"));

        Task<bool>[] many = [.. Enumerable.Range(0, 100).Select(i => accounts.SetDurablyAsync($"{i}", [1]).AsTask())];
        Assert.All(await Task.WhenAll(many), Assert.True);
        Assert.Equal(Store.Engine.WriteAhead.Tail, Store.Engine.WriteAhead.Durable);
        LogReplay.Check(Store, accounts);
    }

    [Fact]
    public void Keys_and_values_of_an_encrypted_store_are_nowhere_to_be_seen()
    {
        byte[] secretKey = [.. Enumerable.Repeat((byte)0xA7, 24)];
        byte[] secretValue = [.. Enumerable.Repeat((byte)0x5B, 24)];
        CairnStore store = Open(Options with { Path = PathOf("encrypted.cairn"), Encryption = StoreEncryption.FromKey(TestBytes.Of(32)) });
        CairnCollection accounts = store.Collection("accounts", Logged);

        Assert.True(store.BeginTransaction().Require(accounts, secretKey, 0).Set(accounts, secretKey, secretValue).Commit());
        Assert.True(accounts.TryGetInfo(secretKey, out EntryInfo info));
        Assert.True(store.BeginTransaction().Require(accounts, secretKey, info.Version).Set(accounts, "other", secretValue).Commit());
        Assert.Equal(secretValue, accounts.Get(secretKey));
        Assert.Equal(secretValue, accounts.Get("other"));
        store.Dispose();

        foreach (string path in Directory.GetFiles(DirectoryPath, "encrypted.cairn*"))
        {
            byte[] file = File.ReadAllBytes(path);
            Assert.Equal(-1, file.AsSpan().IndexOf(secretKey));
            Assert.Equal(-1, file.AsSpan().IndexOf(secretValue));
        }
    }

    [Fact]
    public void Transfers_between_accounts_keep_their_sum()
    {
        const int Accounts = 20;
        const int Threads = 4;
        CairnCollection accounts = Store.Collection("accounts", Logged);
        CairnStore other = OpenAgain();
        for (int i = 0; i < Accounts; i++)
        {
            accounts.Set($"{i}", BitConverter.GetBytes(100));
        }

        int refused = 0;
        int done = 0;
        Parallel.For(0, Threads, thread =>
        {
            CairnStore store = thread % 2 == 0 ? Store : other;
            CairnCollection mine = store.Collection("accounts");
            var random = new Random(thread);
            for (int i = 0; i < 300; i++)
            {
                string from = $"{random.Next(Accounts)}";
                string to = $"{random.Next(Accounts)}";
                if (from == to)
                {
                    continue;
                }

                int fromAmount = Read(mine, from, out ulong fromVersion);
                int toAmount = Read(mine, to, out ulong toVersion);
                bool isDone = store.BeginTransaction()
                    .Require(mine, from, fromVersion)
                    .Require(mine, to, toVersion)
                    .Set(mine, from, BitConverter.GetBytes(fromAmount - 1))
                    .Set(mine, to, BitConverter.GetBytes(toAmount + 1))
                    .Commit();
                Interlocked.Increment(ref isDone ? ref done : ref refused);
            }
        });

        Assert.True(done > 0);
        Assert.Equal(Accounts * 100, Enumerable.Range(0, Accounts).Sum(i => Read(accounts, $"{i}", out _)));
        LogReplay.Check(Store, accounts);
        StoreAudit.Check(Store);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void Transactions_do_what_a_dictionary_does(int seed)
    {
        var random = new Random(seed);
        CairnCollection[] collections = [Store.Collection("first", Logged), Store.Collection("second", Logged)];
        var model = new Dictionary<(int Collection, string Key), byte[]>();
        for (int round = 0; round < 400; round++)
        {
            StoreTransaction transaction = Store.BeginTransaction();
            var after = new Dictionary<(int Collection, string Key), byte[]>(model);
            bool isMet = true;
            for (int operation = random.Next(1, 12); operation > 0; operation--)
            {
                int collection = random.Next(2);
                string key = $"key {random.Next(150)}";
                switch (random.Next(8))
                {
                    case 0:
                        bool isThere = collections[collection].TryGetInfo(key, out EntryInfo info);
                        bool isRight = random.Next(10) != 0;
                        transaction.Require(collections[collection], key, isRight ? isThere ? info.Version : 0 : 12345);
                        isMet &= isRight;
                        break;
                    case <= 2:
                        transaction.Remove(collections[collection], key);
                        after.Remove((collection, key));
                        break;
                    default:
                        byte[] value = TestBytes.Of(random.Next(10) == 0 ? random.Next(30_000) : random.Next(600), seed: round);
                        transaction.Set(collections[collection], key, value);
                        after[(collection, key)] = value;
                        break;
                }
            }

            Assert.Equal(isMet, transaction.Commit());
            model = isMet ? after : model;
            if (round % 50 == 49)
            {
                for (int collection = 0; collection < 2; collection++)
                {
                    for (int key = 0; key < 150; key++)
                    {
                        Assert.Equal(model.GetValueOrDefault((collection, $"key {key}")), collections[collection].Get($"key {key}"));
                    }
                }
            }
        }

        LogReplay.Check(Store, collections);
        StoreAudit.Check(Store);
    }

    private static int Read(CairnCollection accounts, string key, out ulong version)
    {
        byte[] value = new byte[4];
        Assert.Equal(4, accounts.TryGet(key, value, out EntryInfo info) ? info.ValueBytes : -1);
        version = info.Version;
        return BitConverter.ToInt32(value);
    }
}
