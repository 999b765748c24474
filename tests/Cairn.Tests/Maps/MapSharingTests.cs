using System.Globalization;

namespace Cairn.Tests.Maps;

/// <summary>Two processes use one map.</summary>
public sealed class MapSharingTests : StoreTest
{
    [Fact]
    public void Process_sees_what_another_put_and_removed()
    {
        using PersistentMap<string, int> map = PersistentMap.Open(Options, PersistentMapTests.Kept<string, int>());
        using ChildProcess other = Start();

        map["Dune"] = 3;
        Assert.Equal("3", Ask(other, "get Dune"));

        Assert.Equal("4", Ask(other, "put Emma 4"));
        Assert.Equal(4, map["Emma"]);
        Assert.Equal(2, map.Count);
        Assert.Equal("2", Ask(other, "count"));

        Assert.Equal("True", Ask(other, "remove Dune"));
        Assert.False(map.Contains("Dune"));
        Assert.Equal(["Emma"], map.GetAllKeys());
        Assert.Equal(0, other.Finish());
    }

    [Fact]
    public void Updates_of_two_processes_are_all_counted()
    {
        using PersistentMap<string, int> map = PersistentMap.Open(Options, PersistentMapTests.Kept<string, int>());
        using ChildProcess other = Start();

        other.WriteLine("add sold 2000");
        for (int i = 0; i < 2000; i++)
        {
            map.AddOrUpdate("sold", 1, static (_, count) => count + 1);
        }

        other.ReadLine();
        Assert.Equal(4000, map["sold"]);
    }

    [Fact]
    public void Entries_of_a_killed_process_are_there()
    {
        using PersistentMap<string, int> map = PersistentMap.Open(Options, PersistentMapTests.Kept<string, int>());
        using ChildProcess other = Start();
        for (int i = 0; i < 100; i++)
        {
            Ask(other, string.Create(CultureInfo.InvariantCulture, $"put key{i} {i}"));
        }

        other.Kill();

        Assert.Equal(Enumerable.Range(0, 100), map.GetAllValues().Order());
        map["key0"] = 1;
        Assert.Equal(1, map["key0"]);
    }

    private ChildProcess Start()
    {
        ChildProcess child = ChildProcess.Start(typeof(Program), "hold-map", FilePath);
        Assert.Equal("opened", child.ReadLine());
        return child;
    }

    private static string Ask(ChildProcess child, string question)
    {
        child.WriteLine(question);
        return child.ReadLine();
    }
}
