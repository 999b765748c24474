using System.Globalization;
using System.Text.Json;
using Xunit.Abstractions;

namespace Cairn.FileStore.Tests.Processes;

/// <summary>Writers are killed at random points. No acknowledged set may be lost.</summary>
public class KillTests(ITestOutputHelper output)
{
    private const int Writers = 2;

    private static readonly int Kills = Environment.GetEnvironmentVariable("CAIRN_TORTURE") == "long" ? 500 : 8;

    [Fact]
    public void Every_acknowledged_entry_is_there_after_its_writer_was_killed()
    {
        int seed = Environment.TickCount;
        output.WriteLine($"seed {seed}");
        var random = new Random(seed);
        using var file = new CacheFile();
        using DistributedFileStoreCacheString witness = file.Open();
        witness.Set("witness", "0");

        for (int round = 0; round < Kills; round++)
        {
            Dictionary<string, int> acknowledged = RunAndKill(file, random, first: round * 1_000_000);

            // The check uses a cache that was open all the time, and one that opens now.
            witness.Set("witness", round.ToString(CultureInfo.InvariantCulture));
            using DistributedFileStoreCacheString fresh = file.Open();
            foreach ((string key, int number) in acknowledged)
            {
                Assert.True(NumberOf(witness.Get(key)) >= number, $"{key}: {number} was acknowledged");
                Assert.Equal(witness.Get(key), fresh.Get(key));
            }

            JsonDocument.Parse(file.Text).Dispose();
        }
    }

    private static Dictionary<string, int> RunAndKill(CacheFile file, Random random, int first)
    {
        var acknowledged = new Dictionary<string, int>(StringComparer.Ordinal);
        string start = first.ToString(CultureInfo.InvariantCulture);
        ChildProcess[] children =
        [
            .. Enumerable.Range(0, Writers).Select(i => ChildProcess.Start(typeof(Program), "write-forever", file.DirectoryPath, $"w{i}", start)),
        ];
        foreach (ChildProcess child in children)
        {
            Assert.Equal("ready", child.ReadLine());
        }

        int lines = random.Next(1, 400);
        for (int i = 0; i < lines; i++)
        {
            Note(acknowledged, children[0].ReadLine());
        }

        foreach (ChildProcess child in children)
        {
            child.BeginKill();
        }

        foreach (ChildProcess child in children)
        {
            while (child.TryReadLine() is { } line)
            {
                Note(acknowledged, line);
            }

            child.WaitForExit();
            child.Dispose();
        }

        return acknowledged;
    }

    // Ignores a line that the kill truncated.
    private static void Note(Dictionary<string, int> acknowledged, string line)
    {
        string[] words = line.Split(' ');
        if (words.Length == 2 && int.TryParse(words[1], NumberStyles.None, CultureInfo.InvariantCulture, out int number))
        {
            acknowledged[words[0]] = Math.Max(number, acknowledged.GetValueOrDefault(words[0]));
        }
    }

    private static int NumberOf(string? value) => value is null ? -1 : int.Parse(value.Split(' ')[0], CultureInfo.InvariantCulture);
}
