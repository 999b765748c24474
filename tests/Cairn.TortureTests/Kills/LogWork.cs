using System.IO.MemoryMappedFiles;
using System.Runtime.InteropServices;

namespace Cairn.TortureTests.Kills;

// The work of a victim on logged collections, and the results that a reader may find afterwards. Every key, and every group of keys that one
// transaction writes, has a number that grows with each of its writes. The journal is shared memory that survives a kill. It contains the
// number of the last write that was begun and of the last one that was acknowledged. A reader must find one of the two.
internal sealed class LogWork : IDisposable
{
    private const int Keys = 40;
    private const int Groups = 10;
    private const int GroupKeys = 4;
    private const int Things = Keys + Groups;

    private readonly CairnStore _store;
    private readonly CairnCollection _single;
    private readonly CairnCollection _first;
    private readonly CairnCollection _second;
    private readonly CairnCollection _cleared;
    private readonly MemoryMappedFile _file;
    private readonly MemoryMappedViewAccessor _journal;

    public LogWork(CairnStore store, string directory)
    {
        _store = store;
        var logged = new CollectionOptions { Region = StoreRegion.Keep };
        _single = store.Collection("single", logged with { Durability = Durability.EveryOperation });
        _first = store.Collection("first", logged);
        _second = store.Collection("second", logged);
        _cleared = store.Collection("cleared", logged);
        _file = MemoryMappedFile.CreateFromFile(Path.Combine(directory, "journal"), FileMode.OpenOrCreate, null, Things * 16);
        _journal = _file.CreateViewAccessor();
    }

    public CairnCollection[] Collections => [_single, _first, _second, _cleared];

    public void DoNext(Random random)
    {
        int kind = random.Next(100);
        if (kind < 2)
        {
            for (int i = 0; i < 10; i++)
            {
                _cleared.Set($"{i}", [1]);
            }

            _cleared.Clear();
            _store.DefaultCollection.Set("cache", new byte[random.Next(2_000)]);
            return;
        }

        int thing = kind < 60 ? random.Next(Keys) : Keys + random.Next(Groups);
        int number = _journal.ReadInt32(thing * 16) + 1;
        _journal.Write(thing * 16, number);
        if (thing < Keys)
        {
            WriteSingle(thing, number);
        }
        else
        {
            WriteGroup(thing, number);
        }

        _journal.Write((thing * 16) + 8, number);
    }

    public void WriteAnything() => _first.Set("anything", [1]);

    /// <summary>
    /// Checks that each key and group has the value that was begun last or acknowledged last. All keys of a group must have the same one.
    /// </summary>
    public void Check()
    {
        for (int thing = 0; thing < Things; thing++)
        {
            int begun = _journal.ReadInt32(thing * 16);
            int acknowledged = _journal.ReadInt32((thing * 16) + 8);
            byte[]?[] found = Find(thing);
            Assert.True(
                IsOf(begun, found) || IsOf(acknowledged, found),
                $"Thing {thing}: begun {begun}, acknowledged {acknowledged}, found {string.Join(", ", found.Select(NumberOf))}");

            // The present value counts from here on.
            int now = IsOf(begun, found) ? begun : acknowledged;
            _journal.Write((thing * 16) + 8, now);
        }
    }

    /// <summary>Checks that every value is one that was written, and that all keys of a group come from one transaction.</summary>
    public void CheckWhole()
    {
        for (int thing = 0; thing < Things; thing++)
        {
            byte[]?[] found = Find(thing);
            byte[]? first = found[0];
            Assert.True(
                first is null ? Array.TrueForAll(found, value => value is null) : IsOf(MemoryMarshal.Read<int>(first), found),
                $"Thing {thing}: found {string.Join(", ", found.Select(NumberOf))}");
        }
    }

    public void Dispose()
    {
        _journal.Dispose();
        _file.Dispose();
    }

    private byte[]?[] Find(int thing) => thing < Keys
        ? [_single.Get($"{thing}")]
        : [.. Enumerable.Range(0, GroupKeys).Select(i => CollectionOf(i).Get($"{thing} {i}"))];

    private static bool IsOf(int number, byte[]?[] found) =>
        Array.TrueForAll(found, value => value is null ? IsAbsent(number) : !IsAbsent(number) && value.AsSpan().SequenceEqual(ValueOf(number)));

    private static bool IsAbsent(int number) => number % 5 == 0;

    private static string NumberOf(byte[]? value) => value is null ? "none" : $"{MemoryMarshal.Read<int>(value)}";

    // Returns short values, long ones, and sometimes one that takes a run of segments.
    private static byte[] ValueOf(int number)
    {
        var value = new byte[4 + (number % 23 == 1 ? 20_000 : number * 37 % 700)];
        MemoryMarshal.Write(value, in number);
        value.AsSpan(4).Fill((byte)number);
        return value;
    }

    private CairnCollection CollectionOf(int groupKey) => groupKey % 2 == 0 ? _first : _second;

    private void WriteSingle(int thing, int number)
    {
        if (IsAbsent(number))
        {
            _single.Remove($"{thing}");
        }
        else if (number % 7 == 3)
        {
            byte[] value = ValueOf(number);
            _single.Set($"{thing}", value, Expiration.After(TimeSpan.FromHours(1)));
        }
        else
        {
            _single.Set($"{thing}", ValueOf(number));
        }
    }

    private void WriteGroup(int thing, int number)
    {
        using StoreTransaction transaction = _store.BeginTransaction();
        for (int i = 0; i < GroupKeys; i++)
        {
            if (IsAbsent(number))
            {
                transaction.Remove(CollectionOf(i), $"{thing} {i}");
            }
            else
            {
                transaction.Set(CollectionOf(i), $"{thing} {i}", ValueOf(number));
            }
        }

        Assert.True(transaction.Commit());
    }
}
