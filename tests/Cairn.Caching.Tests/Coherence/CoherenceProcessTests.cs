using System.Globalization;
using Xunit.Abstractions;

namespace Cairn.Caching.Tests.Coherence;

/// <summary>Threads of several processes change, fill and hit the same keys. One of the processes is killed meanwhile.</summary>
public sealed class CoherenceProcessTests(ITestOutputHelper output)
{
    private const int Processes = 4;
    private const int Operations = 60_000;

    [Fact]
    public void No_process_finds_a_value_older_than_a_change_that_was_acknowledged_before_it_looked()
    {
        int seed = Random.Shared.Next();
        output.WriteLine($"Seed {seed}.");
        using var directory = new StoreDirectory();
        using CairnStore store = CairnStore.Open(directory.Options);
        using var shared = new SharedNumbers(directory["numbers"], CoherenceWork.Keys);
        ChildProcess[] children =
        [
            .. Enumerable.Range(1, Processes - 1).Select(i => ChildProcess.Start(
                typeof(Program),
                [
                    "cohere", directory.FilePath, directory["numbers"],
                    .. new[] { i * CoherenceRoles.Threads, Processes * CoherenceRoles.Threads, seed + (10 * i), i == 1 ? int.MaxValue : Operations }
                        .Select(number => number.ToString(CultureInfo.InvariantCulture)),
                ])),
        ];
        Array.ForEach(children, child => Assert.Equal("working", child.ReadLine()));

        var results = new List<string>
        {
            CoherenceRoles.Work(store, shared, 0, Processes * CoherenceRoles.Threads, seed, Operations),
        };
        children[0].Kill();
        results.Add(CoherenceRoles.Work(store, shared, 0, Processes * CoherenceRoles.Threads, seed + 1, Operations));
        results.AddRange(children[1..].Select(child => child.ReadLine()));
        Array.ForEach(children, child => child.Dispose());

        Assert.All(results, result => Assert.True(long.Parse(result, CultureInfo.InvariantCulture) > 100, result));
    }
}
