using System.Text;

namespace Cairn.TortureTests.Histories;

// Checks whether the operations on each key can be put into one order that respects their times. In that order, every read must find the last value
// written. This is linearizability of a register with unique values.
//
// The check uses zones (Gibbons and Korach, "Testing Shared Memories", SIAM Journal on Computing 26(4), 1997). The write and the reads of one value
// form a cluster. In a cluster, f is the earliest end and s is the latest start.
//   f < s   a forward zone [f, s]: the value was current during the whole zone
//   s <= f  a backward zone [s, f]: the value was current at some moment in the zone
// Such an order exists exactly if no value is read before its write begins, no two forward zones overlap, and no backward zone lies
// within a forward one.
//
// A cache may lose any value at any moment, so a miss proves nothing and is not recorded. A removal counts as a value of its own that
// no operation reads, so the same rules apply.
internal static class HistoryChecker
{
    /// <summary>Returns the contradictions to linearizability with the operations that cause them; empty if there are none.</summary>
    public static IReadOnlyList<string> FindFaults(IEnumerable<Operation> operations)
    {
        var faults = new List<string>();
        var perKey = new Dictionary<int, List<Operation>>();
        foreach (Operation operation in operations)
        {
            if (!perKey.TryGetValue(operation.Key, out List<Operation>? ofKey))
            {
                perKey[operation.Key] = ofKey = [];
            }

            ofKey.Add(operation);
        }

        foreach ((int key, List<Operation> ofKey) in perKey)
        {
            CheckKey(key, ofKey, faults);
        }

        return faults;
    }

    private static void CheckKey(int key, List<Operation> operations, List<string> faults)
    {
        var zones = new List<Zone>();
        foreach (IGrouping<long, Operation> cluster in operations.Where(o => o.Effect is Effect.Read or Effect.Wrote).GroupBy(o => o.Value))
        {
            Operation[] writes = [.. cluster.Where(o => o.Effect == Effect.Wrote)];
            Operation[] reads = [.. cluster.Where(o => o.Effect == Effect.Read && !o.IsPending)];
            if (writes.Length != 1)
            {
                faults.Add($"key {key}: value {cluster.Key} was read, and written {writes.Length} times:\n{Describe([.. cluster])}");
                continue;
            }

            if (writes[0].IsPending && reads.Length == 0)
            {
                continue; // The pending write need not have happened.
            }

            foreach (Operation read in reads)
            {
                if (read.End < writes[0].Start)
                {
                    faults.Add($"key {key}: value {cluster.Key} was read before it was written:\n{Describe([writes[0], read])}");
                }
            }

            Operation[] all = [writes[0], .. reads];
            zones.Add(new Zone(all.Min(o => o.End), all.Max(o => o.Start), all));
        }

        zones.AddRange(operations.Where(o => o.Effect == Effect.Removed && !o.IsPending).Select(o => new Zone(o.End, o.Start, [o])));
        CheckZones(key, zones, faults);
    }

    private static void CheckZones(int key, List<Zone> zones, List<string> faults)
    {
        Zone[] forward = [.. zones.Where(zone => zone.IsForward).OrderBy(zone => zone.EarliestEnd)];
        for (int i = 1; i < forward.Length; i++)
        {
            if (forward[i].EarliestEnd < forward[i - 1].LatestStart)
            {
                faults.Add(
                    $"key {key}: two values were current at once:\n{Describe(forward[i - 1].Operations)}and\n{Describe(forward[i].Operations)}");
                return;
            }
        }

        foreach (Zone zone in zones)
        {
            if (!zone.IsForward && FindAround(forward, zone) is { } around)
            {
                faults.Add(
                    $"key {key}: between two sightings of a value,\n{Describe(around.Operations)}something else came and went:\n{Describe(zone.Operations)}");
                return;
            }
        }
    }

    // The forward zones do not overlap, so only the last one that begins before the backward zone can contain it.
    private static Zone? FindAround(Zone[] forward, Zone backward)
    {
        int low = 0;
        int high = forward.Length;
        while (low < high)
        {
            int middle = (low + high) / 2;
            if (forward[middle].EarliestEnd < backward.LatestStart)
            {
                low = middle + 1;
            }
            else
            {
                high = middle;
            }
        }

        return low > 0 && backward.EarliestEnd < forward[low - 1].LatestStart ? forward[low - 1] : null;
    }

    private static string Describe(Operation[] operations)
    {
        var text = new StringBuilder();
        Operation[] ordered = [.. operations.OrderBy(o => o.Start)];
        foreach (Operation operation in ordered.Length <= 8 ? ordered : [.. ordered[..4], .. ordered[^4..]])
        {
            text.Append("  ").Append(operation).Append('\n');
        }

        return text.ToString();
    }

    private sealed record Zone(long EarliestEnd, long LatestStart, Operation[] Operations)
    {
        public bool IsForward => EarliestEnd < LatestStart;
    }
}
