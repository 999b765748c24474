using Cairn.Caching.Tests.Levels;
using Xunit.Abstractions;

namespace Cairn.Caching.Tests.Hybrid;

/// <summary>Random operations of two caches over a second level with every kind of fault except one: it reports no change that it did not
/// make.</summary>
public sealed class FaultyLevelTests(ITestOutputHelper output)
{
    private const int Keys = 8;
    private const int Tags = 3;
    private const int Operations = 400;

    private static readonly Fault[] s_readFaults =
        [Fault.Throw, Fault.ThrowSynchronously, Fault.ReturnNull, Fault.Forget, Fault.LieWithOtherKey, Fault.Tear, Fault.Garbage];

    private static readonly Fault[] s_changeFaults = [Fault.Throw, Fault.ThrowSynchronously, Fault.ThrowAfterDoing, Fault.ReturnNull];

    public static TheoryData<int> Seeds => [.. Enumerable.Range(1, 30), Random.Shared.Next()];

    [Theory]
    [MemberData(nameof(Seeds))]
    public async Task No_read_is_older_than_the_last_change_whatever_the_second_level_does(int seed)
    {
        output.WriteLine($"Seed {seed}.");
        var random = new Random(seed);
        var faults = new Random(~seed);
        int faultPercent = random.Next(5, 60);
        await using var caches = new CachesUnderTest("faulty");
        caches.Faulty.Script = (operation, _) =>
        {
            // Retries run on other threads.
            lock (faults)
            {
                Fault[] choice = operation == "get" ? s_readFaults : s_changeFaults;
                return faults.Next(100) < faultPercent ? choice[faults.Next(choice.Length)] : Fault.None;
            }
        };
        CairnHybridCache[] nodes = [caches.Add(), caches.Add(options => options.LocalMaxEntries = 2)];
        int[] source = new int[Keys];

        for (int i = 0; i < Operations; i++)
        {
            CairnHybridCache node = nodes[random.Next(nodes.Length)];
            int key = random.Next(Keys);
            string name = $"key {key}";
            string[] tags = [$"tag {key % Tags}"];
            switch (random.Next(12))
            {
                case 0:
                    source[key]++;
                    await node.SetAsync(name, source[key], tags: tags);
                    break;
                case 1:
                    source[key]++;
                    await node.RemoveAsync(name);
                    break;
                case 2:
                    int tag = random.Next(Tags);
                    Change(changed => changed % Tags == tag);
                    await node.RemoveByTagAsync($"tag {tag}");
                    break;
                case 3 when random.Next(4) == 0:
                    Change(_ => true);
                    await node.ClearAsync();
                    break;
                case 4:
                    caches.Clock.Advance(TimeSpan.FromMilliseconds(random.Next(10_000)));
                    break;
                case 5:
                    CacheResult<int> found = await node.GetAsync<int>(name);
                    Assert.True(!found.IsFound || found.Value == source[key], $"Operation {i}: {name} is {source[key]} and was found as {found.Value}.");
                    break;
                case 6:
                    int late = await node.GetOrCreateAsync<int>(name, (context, _) =>
                    {
                        context.AddTag(tags[0]);
                        return new ValueTask<int>(source[key]);
                    });
                    Assert.True(late == source[key], $"Operation {i}: {name} is {source[key]} and was read as {late}.");
                    break;
                default:
                    int value = await node.GetOrCreateAsync(name, _ => new ValueTask<int>(source[key]), tags: tags);
                    Assert.True(value == source[key], $"Operation {i}: {name} is {source[key]} and was read as {value}.");
                    break;
            }
        }

        caches.Faulty.Script = (_, _) => Fault.None;

        void Change(Func<int, bool> isChanged)
        {
            for (int changed = 0; changed < Keys; changed++)
            {
                source[changed] += isChanged(changed) ? 1 : 0;
            }
        }
    }
}
