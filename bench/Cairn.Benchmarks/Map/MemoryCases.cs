using System.Collections.Concurrent;
using Cairn.Benchmarks.Measuring;
using Cairn.Benchmarks.Peers;

namespace Cairn.Benchmarks.Map;

/// <summary>Compares a map that survives its process with dictionaries that do not, and with MapDB with a commit per put.</summary>
internal static class MemoryCases
{
    // A pass takes a few milliseconds. A round has this many passes, so that it is long enough to include garbage collections.
    private const int Passes = 10;

    // A run of the Java peers takes a minute where every put is committed. Its figures come from warm rounds inside that run.
    private const int FullJavaRounds = 3;

    public static void Measure(AreaRun run, MapScale scale)
    {
        var suffix = $", int to int, {scale.Size}";
        run.Measure($"put and get{suffix}", scale.Rounds, group =>
        {
            var map = group.Own(BenchmarkMap.Create(run.Settings.Folder, "map", scale.Entries, Durability.ProcessCrash));
            var dictionary = new ConcurrentDictionary<int, int>();
            var put = group.Enter(new MapPut(map, scale.Entries, Passes));
            var get = group.Enter(new MapGet(map, scale.Entries, Passes));
            var dictionaryPut = group.Enter(new ConcurrentDictionaryPut(dictionary, scale.Entries, Passes));
            var dictionaryGet = group.Enter(new ConcurrentDictionaryGet(dictionary, scale.Entries, Passes));
            group.Compare($"put{suffix}", put, dictionaryPut, Goal.AtMost(6));
            group.Compare($"get{suffix}", get, dictionaryGet, Goal.AtMost(6));
            group.ExpectNoAllocation($"put{suffix}", put);
            group.ExpectNoAllocation($"get{suffix}", get);
        });
        run.Measure($"fill{suffix}", scale.Rounds, group =>
        {
            var map = group.Own(BenchmarkMap.Create(run.Settings.Folder, "fill", scale.Entries, Durability.ProcessCrash));
            var fill = group.Enter(new MapFill(map, scale.Entries));
            var dictionaryFill = group.Enter(new ConcurrentDictionaryFill(scale.Entries));
            group.Compare($"put, new keys{suffix}", fill, dictionaryFill, Goal.AtMost(6));
        });
        run.Measure($"get all{suffix}", scale.Rounds, group =>
        {
            var map = group.Own(BenchmarkMap.Create(run.Settings.Folder, "all", scale.Entries, Durability.ProcessCrash));
            BenchmarkMap.Fill(map, scale.Entries);
            var dictionary = Enumerable.Range(0, scale.Entries).ToDictionary(number => number, number => number);
            var all = group.Enter(new MapGetAll(map, scale.Entries, Passes));
            var copy = group.Enter(new DictionaryCopy(dictionary, Passes));
            group.Compare($"get all, per entry{suffix}", all, copy, Goal.AtMost(3));
        });
    }

    /// <summary>Compares with maps of the JVM, by elapsed time on both sides.</summary>
    public static void MeasureJava(AreaRun run, MapScale scale)
    {
        var suffix = $", int to int, {scale.Size}";
        run.Measure($"MapDB{suffix}", run.Settings.IsQuick ? 1 : FullJavaRounds, group =>
        {
            var safe = group.Own(BenchmarkMap.Create(run.Settings.Folder, "safe", scale.Entries, Durability.ProcessCrash));
            var durable = group.Own(BenchmarkMap.Create(run.Settings.Folder, "durable", scale.Entries, Durability.EveryOperation));
            var put = group.Enter(new MapPut(safe, scale.Entries));
            var get = group.Enter(new MapGet(safe, scale.Entries));
            var putDurable = group.Enter(new MapPut(durable, scale.DurablePuts));
            var java = group.MakePeer(() => new JavaPeers(run.Settings.PeersFolder, run.Settings.Folder, scale.Entries));
            if (java is null)
            {
                return;
            }

            var committedPut = group.Enter(java.Puts(JavaPeers.MapDbCommitted));
            var committedGet = group.Enter(java.Gets(JavaPeers.MapDbCommitted));
            var loggedPut = group.Enter(java.Puts(JavaPeers.MapDbLogged));
            group.Compare($"put{suffix}", put, committedPut, Goal.AtMost(0.002), Quantity.WallTime);
            group.Compare($"get{suffix}", get, committedGet, Goal.AtMost(0.3), Quantity.WallTime);
            group.Compare($"put, durable each{suffix}", putDurable, loggedPut, Goal.AtMost(0.1), Quantity.WallTime);
        });
    }
}
