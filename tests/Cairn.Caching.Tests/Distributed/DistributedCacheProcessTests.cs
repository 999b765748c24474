using System.Globalization;
using System.Text;
using Microsoft.Extensions.Caching.Distributed;

namespace Cairn.Caching.Tests.Distributed;

/// <summary>Processes share a distributed cache, and its content survives them.</summary>
public sealed class DistributedCacheProcessTests : IDisposable
{
    private readonly StoreDirectory _directory = new();

    public void Dispose() => _directory.Dispose();

    [Fact]
    public void Change_that_one_process_made_is_what_the_other_reads()
    {
        using CairnDistributedCache cache = Open();
        using ChildProcess other = ChildProcess.Start(typeof(Program), "use-distributed-cache", _directory.FilePath);
        Assert.Equal("ready", other.ReadLine());

        for (int round = 0; round < 100; round++)
        {
            cache.Set("mine", Encoding.UTF8.GetBytes($"{round}"));
            Assert.Equal($"{round}", Ask(other, "get mine"));

            Ask(other, $"set theirs {round}");
            Assert.Equal($"{round}", Encoding.UTF8.GetString(cache.Get("theirs")!));

            cache.Remove("theirs");
            Assert.Equal("nothing", Ask(other, "get theirs"));

            Ask(other, "remove mine");
            Assert.Null(cache.Get("mine"));
        }

        Assert.Equal(0, other.Finish());
    }

    [Fact]
    public void Stored_entries_are_there_after_every_process_has_ended()
    {
        using (ChildProcess first = ChildProcess.Start(typeof(Program), "use-distributed-cache", _directory.FilePath))
        {
            Assert.Equal("ready", first.ReadLine());
            Ask(first, "set book:42 Dune");
            Assert.Equal(0, first.Finish());
        }

        using ChildProcess second = ChildProcess.Start(typeof(Program), "use-distributed-cache", _directory.FilePath);
        Assert.Equal("ready", second.ReadLine());
        Assert.Equal("Dune", Ask(second, "get book:42"));
    }

    [Fact]
    public void Stored_entries_are_there_after_their_process_was_killed()
    {
        for (int round = 0; round < 3; round++)
        {
            int acknowledged = -1;
            using (ChildProcess filling = ChildProcess.Start(typeof(Program), "fill-distributed-cache", _directory.FilePath))
            {
                while (acknowledged < 2_000 + (round * 777))
                {
                    acknowledged = int.Parse(filling.ReadLine(), CultureInfo.InvariantCulture);
                }

                filling.BeginKill();
                while (filling.TryReadLine() is { } line)
                {
                    acknowledged = Parse(line) ?? acknowledged;
                }

                filling.Kill();
            }

            using CairnDistributedCache cache = Open();
            for (int number = acknowledged - 900; number <= acknowledged; number++)
            {
                // The process may have set a few more values that it could not report.
                int found = int.Parse(Encoding.UTF8.GetString(cache.Get(DistributedCacheRoles.KeyOf(number))!), CultureInfo.InvariantCulture);
                Assert.True(found == number || found == number + 1_000, $"Round {round}: {found} for {number}, of {acknowledged} acknowledged.");
            }

            cache.Set("still", [1]);
            Assert.NotNull(cache.Get("still"));
        }
    }

    private static string Ask(ChildProcess process, string line)
    {
        process.WriteLine(line);
        return process.ReadLine();
    }

    // The last line may be truncated. A truncated number is smaller than the one before.
    private static int? Parse(string line) =>
        line.Length >= 4 && int.TryParse(line, NumberStyles.None, CultureInfo.InvariantCulture, out int number) ? number : null;

    private CairnDistributedCache Open() =>
        new(new CairnDistributedCacheOptions { Path = _directory.FilePath, CapacityBytes = StoreDirectory.SmallCapacityBytes, FlushOnClose = false });
}
