using Cairn.FileStore.Entries;

namespace Cairn.FileStore.Tests.Engine;

/// <summary>The table's invariants I1 to I4.</summary>
public class EntryTableTests
{
    [Fact]
    public void Table_agrees_with_a_dictionary_through_growth_and_removals()
    {
        var random = new Random(7);
        var table = new EntryTable();
        var model = new Dictionary<string, string>(StringComparer.Ordinal);

        for (int i = 0; i < 50_000; i++)
        {
            string key = $"{random.Next(i < 25_000 ? 3000 : 100)}";
            string? value = random.Next(3) == 0 ? null : $"{i}";
            table.Put(new Entry(key, value) { LineBytes = 10 });
            if (value is null)
            {
                model.Remove(key);
            }
            else
            {
                model[key] = value;
            }

            Assert.Equal(model.Count, table.Count);
            Assert.Equal(model.Count * 10, table.LineBytes);
        }

        Assert.All(Enumerable.Range(0, 3000), i => Assert.Equal(model.GetValueOrDefault($"{i}"), table.Find($"{i}")?.Value));
        Assert.Equal(model.Values.Order(StringComparer.Ordinal), table.InOrder(0).Select(entry => (string)entry.Value!).Order(StringComparer.Ordinal));
    }

    [Fact]
    public void Batch_is_invisible_until_it_is_complete()
    {
        var table = new EntryTable();
        table.Put(new Entry("a", "1"));
        table.Put(new Entry("b", "1"));

        table.BeginBatch();
        table.Put(new Entry("a", "2"));
        table.Put(new Entry("a", "3"));
        table.Put(new Entry("b", value: null));
        for (int i = 0; i < 100; i++)
        {
            table.Put(new Entry($"c{i}", "3")); // This many entries need a new array (I3).
        }

        Assert.Equal("1", table.Find("a")!.Value);
        Assert.Equal("1", table.Find("b")!.Value);
        Assert.Null(table.Find("c1"));
        Assert.Equal(2, table.Copy().Count);
        table.CompleteBatch();
        Assert.Equal("3", table.Find("a")!.Value);
        Assert.Null(table.Find("b")?.Value);
        Assert.Equal("3", table.Find("c99")!.Value);
    }

    [Fact]
    public async Task Key_that_is_always_there_is_always_found_while_others_come_and_go()
    {
        var table = new EntryTable();
        table.Put(new Entry("always", "0"));
        using var isDone = new CancellationTokenSource();
        Task<int> reading = OwnThread.Run(() =>
        {
            int misses = 0;
            while (!isDone.IsCancellationRequested)
            {
                misses += table.Find("always")?.Value is null ? 1 : 0;
            }

            return misses;
        });

        for (int i = 0; i < 300_000; i++)
        {
            table.Put(new Entry($"{i % 5000}", i % 3 == 0 ? null : "x"));
            table.Put(new Entry("always", "y"));
        }

        await isDone.CancelAsync();
        Assert.Equal(0, await reading);
    }
}
