using Cairn.Eviction.Dueling;

namespace Cairn.Caching.Tests.Local;

public class GhostQueueTests
{
    [Fact]
    public void A_key_is_remembered_until_it_is_taken()
    {
        var ghosts = new GhostQueue();
        ghosts.Add(HashOf(1), span: 10);

        Assert.False(ghosts.TryTake(HashOf(2)));
        Assert.True(ghosts.TryTake(HashOf(1)));
        Assert.False(ghosts.TryTake(HashOf(1)));
    }

    [Fact]
    public void A_key_is_forgotten_after_as_many_evictions_as_the_span()
    {
        var ghosts = new GhostQueue();
        for (int key = 0; key < 10; key++)
        {
            ghosts.Add(HashOf(key), span: 4);
        }

        Assert.Equal([6, 7, 8, 9], Enumerable.Range(0, 10).Where(key => ghosts.TryTake(HashOf(key))));
    }

    [Fact]
    public void A_key_that_returned_still_counts_in_the_span()
    {
        var ghosts = new GhostQueue();
        ghosts.Add(HashOf(0), span: 3);
        ghosts.Add(HashOf(1), span: 3);
        ghosts.Add(HashOf(2), span: 3);
        ghosts.TryTake(HashOf(1));

        ghosts.Add(HashOf(3), span: 3);

        Assert.False(ghosts.TryTake(HashOf(0)));
        Assert.True(ghosts.TryTake(HashOf(2)));
        Assert.True(ghosts.TryTake(HashOf(3)));
    }

    [Fact]
    public void A_shorter_span_forgets_what_is_beyond_it()
    {
        var ghosts = new GhostQueue();
        for (int key = 0; key < 10; key++)
        {
            ghosts.Add(HashOf(key), span: 100);
        }

        ghosts.Add(HashOf(10), span: 2);

        Assert.Equal([9, 10], Enumerable.Range(0, 11).Where(key => ghosts.TryTake(HashOf(key))));
    }

    [Fact]
    public void Nothing_is_remembered_after_it_was_cleared()
    {
        var ghosts = new GhostQueue();
        ghosts.Add(HashOf(1), span: 10);

        ghosts.Clear();

        Assert.False(ghosts.TryTake(HashOf(1)));
        ghosts.Add(HashOf(2), span: 10);
        Assert.True(ghosts.TryTake(HashOf(2)));
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(4)]
    public void It_remembers_what_a_list_of_the_last_evictions_holds(int seed)
    {
        var random = new Random(seed);
        var ghosts = new GhostQueue();
        var model = new List<int?>();
        int span = 1;

        for (int step = 0; step < 50_000; step++)
        {
            if (random.Next(100) == 0)
            {
                span = random.Next(1, 400);
            }

            int key = random.Next(600);
            int index = model.IndexOf(key);
            Assert.True(ghosts.TryTake(HashOf(key)) == index >= 0, $"Step {step} of seed {seed}.");
            if (index >= 0)
            {
                model[index] = null;
            }

            ghosts.Add(HashOf(key), span);
            model.Add(key);
            model.RemoveRange(0, Math.Max(0, model.Count - span));
        }
    }

    private static ulong HashOf(int key) => LocalEntries.HashOf($"key:{key}");
}
