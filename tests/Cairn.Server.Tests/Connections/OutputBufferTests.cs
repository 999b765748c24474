using Cairn.Server.Buffers;

namespace Cairn.Server.Tests.Connections;

/// <summary>Compares outputs that share an arena with plain lists of bytes.</summary>
public class OutputBufferTests
{
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(4)]
    public void Outputs_of_an_arena_hold_what_was_written_to_each(int seed)
    {
        var random = new Random(seed);
        var account = new MemoryAccount(long.MaxValue);
        var pool = new BlockPool(account);
        var arena = new OutputArena(pool);
        OutputBuffer[] outputs = [.. Enumerable.Range(0, 5).Select(_ => new OutputBuffer(arena))];
        Queue<byte>[] models = [.. outputs.Select(_ => new Queue<byte>())];

        for (int step = 0; step < 20_000; step++)
        {
            int i = random.Next(outputs.Length);
            Act(outputs[i], models[i], random);
            Assert.Equal(models[i].Count, outputs[i].UnsentBytes);
            if (step % 500 == 0)
            {
                Assert.All(outputs.Zip(models), pair => Assert.Equal(pair.Second.ToArray(), pair.First.ToArray()));
            }
        }

        Assert.All(outputs.Zip(models), pair => Assert.Equal(pair.Second.ToArray(), pair.First.ToArray()));
        Array.ForEach(outputs, output => output.Clear());
        pool.Clear();
        Assert.InRange(account.Bytes, 0, OutputArena.SharedBlockBytes); // The arena's current block.
    }

    [Fact]
    public void Output_is_full_from_64_KiB_on()
    {
        var output = new OutputBuffer();

        output.Write(new byte[OutputBuffer.FullBytes - 1]);
        Assert.False(output.IsFull);

        output.Write([0]);
        Assert.True(output.IsFull);
    }

    [Fact]
    public void Room_that_was_reserved_and_not_used_leaves_nothing()
    {
        var output = new OutputBuffer();

        _ = output.Reserve(100);
        output.CloseSegment();

        Assert.Null(output.First);
        Assert.Empty(output.ToArray());
    }

    private static void Act(OutputBuffer output, Queue<byte> model, Random random)
    {
        switch (random.Next(8))
        {
            case 0: // Some or all of it is sent.
                output.CloseSegment();
                int sent = random.Next(model.Count + 1);
                output.Sent(sent);
                for (int i = 0; i < sent; i++)
                {
                    model.Dequeue();
                }

                break;
            case 1: // It stays for some time.
                output.MoveToOwnBlocks();
                break;
            case 2: // Reserved but not used.
                _ = output.Reserve(random.Next(1, 1000));
                break;
            default:
                byte[] bytes = new byte[random.Next(20) == 0 ? random.Next(100_000) : random.Next(300)];
                random.NextBytes(bytes);
                output.Write(bytes);
                Array.ForEach(bytes, model.Enqueue);
                break;
        }
    }
}
