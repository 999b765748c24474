using Cairn.Caching.Coherence;
using Cairn.Caching.Levels;

namespace Cairn.Caching.Tests.Levels;

public class NoLevelTests
{
    [Fact]
    public async Task Nothing_is_there_and_every_change_is_done_and_counts()
    {
        await using var level = new NoLevel();
        var sink = new RecordingSink();
        level.Coherence.Attach(sink);
        ulong hash = level.Hasher.Hash("key");
        ChangeMark mark = level.Coherence.Mark(hash);

        LevelStatus written = await level.WriteAsync("key", hash, new byte[] { 1 }, new(long.MaxValue, 0), null, CancellationToken.None);

        Assert.Equal(LevelStatus.Done, written);
        Assert.True(level.Coherence.TryKeep(mark, hash, level.ChangesOf(written), 0, static _ => true));
        Assert.Equal(LevelStatus.Miss, await level.ReadAsync("key", hash, new System.Buffers.ArrayBufferWriter<byte>(), CancellationToken.None));
        Assert.Equal(LevelStatus.Done, await level.RemoveAsync("key", hash, CancellationToken.None));
        Assert.False(level.Coherence.TryKeep(mark, hash, level.ChangesOf(written), 0, static _ => true));
        Assert.Equal([hash, hash], sink.Changed);
        Assert.True(level.Coherence.TryCatchUp(hash));
        Assert.True(level.Coherence.SeesAllChanges);
    }

    [Fact]
    public async Task Stamps_stay_until_they_are_renewed_or_everything_is_cleared()
    {
        await using var level = new NoLevel();
        level.Coherence.Attach(new RecordingSink());
        ulong first = await StampAsync(level, "tag");
        ulong other = await StampAsync(level, "other");
        Assert.Equal(first, await StampAsync(level, "tag"));
        Assert.NotEqual(first, other);

        await level.RenewStampAsync("tag", level.TagHasher.Hash("tag"), CancellationToken.None);
        ulong second = await StampAsync(level, "tag");
        Assert.NotEqual(first, second);
        Assert.Equal(other, await StampAsync(level, "other"));

        await level.ClearAsync(CancellationToken.None);
        Assert.DoesNotContain(await StampAsync(level, "tag"), new[] { first, second });
        Assert.NotEqual(other, await StampAsync(level, "other"));
    }

    [Fact]
    public async Task Renewed_tags_are_kept_up_to_a_bound_and_then_all_tags_count_as_renewed()
    {
        await using var level = new NoLevel();
        level.Coherence.Attach(new RecordingSink());
        ulong never = await StampAsync(level, "never");

        for (int i = 0; i < NoLevel.MaxRenewed; i++)
        {
            await level.RenewStampAsync($"tag {i}", (ulong)i, CancellationToken.None);
        }

        Assert.Equal(never, await StampAsync(level, "never"));
        await level.RenewStampAsync("one more", 0, CancellationToken.None);
        Assert.NotEqual(never, await StampAsync(level, "never"));
    }

    private static async Task<ulong> StampAsync(NoLevel level, string tag) =>
        (await level.ReadStampAsync(tag, level.TagHasher.Hash(tag), CancellationToken.None)).Stamp;
}
