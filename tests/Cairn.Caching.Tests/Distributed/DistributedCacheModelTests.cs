using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.Caching.Memory;
using Microsoft.Extensions.Internal;
using Microsoft.Extensions.Options;

namespace Cairn.Caching.Tests.Distributed;

/// <summary>The same random operations at the same times have the same effect on Microsoft's MemoryDistributedCache.</summary>
public sealed class DistributedCacheModelTests : DistributedCacheTest
{
    private const int Operations = 20_000;

    // Steps are zero or longer than an eighth of any sliding interval, so that it is not visible when a store does not slide.
    private static readonly int[] StepSeconds = [0, 0, 0, 3, 4, 7, 11];
    private static readonly int[] IntervalSeconds = [8, 10, 16, 20];
    private static readonly string[] Keys = [.. Enumerable.Range(0, 12).Select(number => number == 0 ? "" : $"key:{number}")];

    public static TheoryData<int> Seeds => [1, 2, 3, 4, 5, 6];

    [Theory]
    [MemberData(nameof(Seeds))]
    public void Random_operations_do_what_they_do_to_the_cache_in_memory(int seed)
    {
        var random = new Random(seed);
        var memory = new MemoryDistributedCache(Options.Create(new MemoryDistributedCacheOptions
        {
            Clock = new SystemClock(Clock),

            // The scan runs on another thread. It may remove the entry that is being replaced, and the new value is then refused for lack of room.
            ExpirationScanFrequency = TimeSpan.FromDays(10_000),
        }));

        for (int step = 0; step < Operations; step++)
        {
            string key = Keys[random.Next(Keys.Length)];
            switch (random.Next(8))
            {
                case 0 or 1:
                    byte[] value = TestBytes.Of(random.Next(40), step);
                    DistributedCacheEntryOptions options = RandomOptions(random);
                    memory.Set(key, value, options);
                    Cache.Set(key, value, options);
                    break;
                case 2:
                    memory.Remove(key);
                    Cache.Remove(key);
                    break;
                case 3:
                    memory.Refresh(key);
                    Cache.Refresh(key);
                    break;
                default:
                    byte[]? expected = memory.Get(key);
                    byte[]? actual = Cache.Get(key);
                    Assert.True(
                        expected is null == actual is null && expected.AsSpan().SequenceEqual(actual),
                        $"Seed {seed}, step {step}, key '{key}': {Text(expected)} in memory, {Text(actual)} in the store.");
                    break;
            }

            Clock.Advance(TimeSpan.FromSeconds(StepSeconds[random.Next(StepSeconds.Length)]));
            if (step % 5_000 == 4_999)
            {
                Reopen();
            }
        }

        Assert.Equal(0, Cache.DroppedWrites);
    }

    private static string Text(byte[]? value) => value is null ? "nothing" : Convert.ToHexString(value);

    private DistributedCacheEntryOptions RandomOptions(Random random)
    {
        var options = new DistributedCacheEntryOptions();
        if (random.Next(3) == 0)
        {
            options.AbsoluteExpiration = Clock.Now + TimeSpan.FromSeconds(random.Next(-5, 60));
        }

        if (random.Next(3) == 0)
        {
            options.AbsoluteExpirationRelativeToNow = TimeSpan.FromSeconds(random.Next(1, 60));
        }

        if (random.Next(2) == 0)
        {
            options.SlidingExpiration = TimeSpan.FromSeconds(IntervalSeconds[random.Next(IntervalSeconds.Length)]);
        }

        return options;
    }

    private sealed class SystemClock(ManualClock clock) : ISystemClock
    {
        public DateTimeOffset UtcNow => clock.Now;
    }
}
