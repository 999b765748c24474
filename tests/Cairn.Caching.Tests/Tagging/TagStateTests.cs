using Cairn.Caching.Tagging;

namespace Cairn.Caching.Tests.Tagging;

/// <summary>The stamp of a tag with its conditions.</summary>
public sealed class TagStateTests
{
    [Theory]
    [InlineData(1UL << 40)]
    [InlineData(ulong.MaxValue - 10_000)]
    public void Random_removals_never_leave_what_a_model_removes_and_few_conditions_remove_no_more(ulong stamp)
    {
        var random = new Random(42);
        Tag[] tags = [.. Enumerable.Range(0, 4).Select(i => new Tag($"tag {i}", (ulong)i))];
        for (int round = 0; round < 200; round++)
        {
            var state = new TagState(stamp);
            var entries = new List<(ulong Stamp, Tag[] Tags, bool IsRemoved)>();
            for (int step = 0; step < 100; step++)
            {
                entries.Add((state.Stamp, [.. tags.Where(_ => random.Next(2) == 0)], IsRemoved: false));
                if (random.Next(3) == 0)
                {
                    Tag[] removed = [.. tags.Where(_ => random.Next(3) == 0)];
                    state = state.Without([.. removed.Select(tag => TagState.NumberOf(tag.Name)).Order()]);
                    entries = entries.ConvertAll(entry => entry with { IsRemoved = entry.IsRemoved || removed.All(entry.Tags.Contains) });
                }

                Assert.True(TagState.TryRead(state.ToBytes(), out TagState read));
                Assert.All(entries, entry => Assert.Equal(!entry.IsRemoved, read.Allows(entry.Stamp, entry.Tags)));
                Assert.False(read.Allows(stamp - 1, []));
                Assert.False(read.Allows(read.Stamp + 1, []));
            }
        }
    }

    [Fact]
    public void Oldest_condition_is_dropped_together_with_the_entries_before_it()
    {
        var state = new TagState(1UL << 40);
        for (ulong i = 0; i <= TagState.MaxConditions; i++)
        {
            state = state.Without([i]);
        }

        Assert.Equal(TagState.MaxConditions, state.Conditions!.Length);
        Assert.False(state.Allows(1UL << 40, []));
        Assert.True(state.Allows((1UL << 40) + 1, []));
    }

    [Fact]
    public void Bytes_that_are_no_state_are_refused()
    {
        byte[] bytes = new TagState(1UL << 40).Without([1, 2]).Without([3]).ToBytes();
        HashSet<int> whole = [TagState.StampBytes, bytes.Length - 17, bytes.Length];

        for (int length = 0; length <= bytes.Length; length++)
        {
            Assert.Equal(whole.Contains(length), TagState.TryRead(bytes.AsSpan(0, length), out _));
        }

        Assert.False(TagState.TryRead([.. bytes, 0], out _));
        Assert.False(TagState.TryRead(new byte[TagState.StampBytes], out _));
    }
}
