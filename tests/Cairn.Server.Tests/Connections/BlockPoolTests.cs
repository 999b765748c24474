using Cairn.Server.Buffers;

namespace Cairn.Server.Tests.Connections;

public class BlockPoolTests
{
    private const int LongReplyBytes = (1 << 20) + 64;

    [Fact]
    public void Block_of_up_to_2_MiB_has_at_most_a_quarter_more_than_needed_above_64_KiB_and_is_used_again()
    {
        var random = new Random(1);
        var pool = new BlockPool(new MemoryAccount(long.MaxValue));
        for (int i = 0; i < 2000; i++)
        {
            int needed = random.Next(8) switch
            {
                0 => 1 << random.Next(21),
                1 => (1 << random.Next(21)) + 1,
                _ => random.Next(1, 2 << random.Next(1, 21)),
            };
            Block block = pool.Rent(needed);

            Assert.InRange(block.Length, needed, Math.Max(BlockPool.SmallestBytes, needed <= 64 << 10 ? needed * 2L : needed * 5L / 4));
            pool.Return(block);
            Assert.Same(block, pool.Rent(needed));
            pool.Return(block);
            pool.Clear();
            Assert.Equal(0, pool.Account.Bytes);
        }
    }

    [Fact]
    public void Block_of_a_long_reply_is_used_again_while_memory_is_short_although_other_blocks_are_free()
    {
        var account = new MemoryAccount(64 << 20);
        var pool = new BlockPool(account);
        account.Add(60 << 20);
        Block[] others = [.. Enumerable.Range(0, 16).Select(_ => pool.Rent(16 << 10))];
        Array.ForEach(others, pool.Return);
        Block block = pool.Rent(LongReplyBytes);

        pool.Return(block);

        Assert.True(account.IsShort);
        Assert.Same(block, pool.Rent(LongReplyBytes));
    }
}
