using Cairn.Benchmarks.Measuring;
using Cairn.Benchmarks.Peers;

namespace Cairn.Benchmarks.Store;

/// <summary>Compares maps of integers to integers, accessed in order, with file-backed maps of the JVM, by elapsed time on both sides.</summary>
internal static class IntegerCases
{
    // A run of the Java peers takes 20 seconds at a million entries. Its figures come from warm rounds inside that run.
    private const int FullRounds = 5;
    private const int QuickRounds = 1;

    public static void Measure(AreaRun run, StoreScale scale)
    {
        run.Measure("int to int", run.Settings.IsQuick ? QuickRounds : FullRounds, group =>
        {
            var store = group.Own(BenchmarkStore.Create(
                run.Settings.Folder,
                "integers",
                BenchmarkStore.CapacityFor(scale.Entries, sizeof(int), sizeof(int)),
                sizeof(int),
                sizeof(int)));
            var set = group.Enter(new CairnIntegerSet(store.DefaultCollection, scale.Entries));
            var get = group.Enter(new CairnIntegerGet(store.DefaultCollection, scale.Entries));

            var java = group.MakePeer(() => new JavaPeers(run.Settings.PeersFolder, run.Settings.Folder, scale.Entries));
            if (java is null)
            {
                return;
            }

            var suffix = $", int to int, {scale.Size}";
            var chronicleGet = group.Enter(java.Gets(JavaPeers.ChronicleMap));
            var chronicleSet = group.Enter(java.Puts(JavaPeers.ChronicleMap));
            group.Compare($"get{suffix}", get, chronicleGet, Goal.AtMost(0.85, stretch: 0.6), Quantity.WallTime);
            group.Compare($"set{suffix}", set, chronicleSet, Goal.AtMost(0.55, stretch: 0.35), Quantity.WallTime);

            var mapDbGet = group.Enter(java.Gets(JavaPeers.MapDb));
            var mapDbSet = group.Enter(java.Puts(JavaPeers.MapDb));
            group.Compare($"get{suffix}", get, mapDbGet, Goal.AtMost(0.25), Quantity.WallTime);
            group.Compare($"set{suffix}", set, mapDbSet, Goal.AtMost(0.2), Quantity.WallTime);
        });
    }
}
