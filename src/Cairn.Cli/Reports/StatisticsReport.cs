using System.Text.Json;

namespace Cairn.Cli.Reports;

/// <summary>Writes the statistics of a store as text and as JSON.</summary>
internal static class StatisticsReport
{
    /// <summary>Returns all collections: first the default collection, with everything that the others do not contain.</summary>
    public static IReadOnlyList<CollectionStatistics> AllCollections(StoreStatistics statistics)
    {
        long entries = statistics.Totals.Entries - statistics.Collections.Sum(collection => collection.Entries);
        long bytes = statistics.Totals.Bytes - statistics.Collections.Sum(collection => collection.Bytes);
        return [new CollectionStatistics("", Math.Max(0, entries), Math.Max(0, bytes), 0, StoreRegion.Evict), .. statistics.Collections];
    }

    public static void WriteJson(Utf8JsonWriter writer, string path, StoreStatistics statistics, bool withPartitions, SizeHistogram? sizes)
    {
        writer.WriteString("store"u8, path);
        writer.WriteNumber("fileBytes"u8, statistics.FileBytes);
        writer.WriteNumber("maxCapacityBytes"u8, statistics.MaxCapacityBytes);
        writer.WriteString("createdAt"u8, Figures.Moment(statistics.CreatedAt));
        writer.WriteNumber("openings"u8, statistics.Openings);
        writer.WriteNumber("segments"u8, statistics.Segments);
        writer.WriteNumber("bytesPerSegment"u8, statistics.BytesPerSegment);
        writer.WriteNumber("freeSegments"u8, statistics.FreeSegments);
        writer.WriteNumber("indexSlots"u8, statistics.IndexSlots);
        if (statistics.GrowthFailure is { } failure)
        {
            writer.WriteString("growthFailure"u8, failure);
        }

        writer.WriteNumber("failedCheckpoints"u8, statistics.FailedCheckpoints);
        WriteCounters(writer, statistics.Totals);
        writer.WriteStartArray("collections"u8);
        foreach (CollectionStatistics collection in AllCollections(statistics))
        {
            writer.WriteStartObject();
            writer.WriteString("name"u8, collection.Name);
            writer.WriteNumber("entries"u8, collection.Entries);
            writer.WriteNumber("bytes"u8, collection.Bytes);
            writer.WriteNumber("budgetBytes"u8, collection.BudgetBytes);
            writer.WriteString("region"u8, collection.Region == StoreRegion.Keep ? "keep"u8 : "evict"u8);
            writer.WriteEndObject();
        }

        writer.WriteEndArray();
        if (withPartitions)
        {
            writer.WriteStartArray("partitions"u8);
            foreach (PartitionStatistics partition in statistics.Partitions)
            {
                writer.WriteStartObject();
                WriteCounters(writer, partition);
                writer.WriteEndObject();
            }

            writer.WriteEndArray();
        }

        if (sizes is not null)
        {
            SizesReport.WriteJson(writer, sizes);
        }
    }

    public static void WriteText(ToolOutput output, string path, StoreStatistics statistics, bool withPartitions, SizeHistogram? sizes)
    {
        output.WriteLine(path);
        var table = new TextTable("", "");
        foreach ((string name, string text) in Describe(statistics))
        {
            table.Add($"  {name}", text);
        }

        table.WriteTo(output);
        output.WriteLine();
        WriteCollections(output, statistics);
        if (withPartitions)
        {
            output.WriteLine();
            WritePartitions(output, statistics);
        }

        if (sizes is not null)
        {
            output.WriteLine();
            SizesReport.WriteText(output, sizes);
        }
    }

    private static IEnumerable<(string Name, string Text)> Describe(StoreStatistics statistics)
    {
        PartitionStatistics totals = statistics.Totals;
        yield return ("file", $"{Figures.Bytes(statistics.FileBytes)}{Growth(statistics)}, since {Figures.Moment(statistics.CreatedAt)}");
        if (statistics.GrowthFailure is { } failure)
        {
            yield return ("", $"could not grow: {failure}");
        }

        if (statistics.FailedCheckpoints > 0)
        {
            yield return ("snapshots", $"the last {Figures.Count(statistics.FailedCheckpoints)} could not be made, so the log grows");
        }

        yield return ("openings", $"{Figures.Count(statistics.Openings)}, this one included");
        yield return ("entries", $"{Figures.Count(totals.Entries)} ({Figures.Percent(Part(totals.Entries, statistics.IndexSlots))} of the index)");
        yield return ("bytes", $"{Figures.Bytes(totals.Bytes)} ({Figures.Percent(Fill(statistics))} of the segments)");
        yield return ("segments", $"{Figures.Count(statistics.Segments)} of {Figures.Bytes(statistics.BytesPerSegment)}, {Figures.Count(statistics.FreeSegments)} free");
        string ratio = totals.Hits + totals.Misses == 0 ? "" : $", hit ratio {Figures.Percent(totals.HitRatio)}";
        yield return ("gets", $"{Figures.Count(totals.Hits)} hits, {Figures.Count(totals.Misses)} misses{ratio}");
        yield return ("sets", $"{Figures.Count(totals.Sets)}, {Figures.Count(totals.Declined + totals.Dropped)} could not be stored");
        yield return ("removals", Figures.Count(totals.Removals));
        yield return ("evictions", $"{Figures.Count(totals.Evictions)}, {Figures.Count(totals.GhostHits)} came back soon after");
        yield return ("expirations", Figures.Count(totals.Expirations));
        yield return ("lock waits", Figures.Count(totals.LockWaits));
        yield return ("recoveries", $"{Figures.Count(totals.Recoveries)} after the death of a process");
        yield return ("damaged", $"{Figures.Count(totals.DamagedEntries)} entries found and removed");
    }

    /// <summary>Returns the maximum size of the file, if the file can grow by at least one segment.</summary>
    public static string Growth(StoreStatistics statistics) =>
        statistics.MaxCapacityBytes - statistics.FileBytes >= statistics.BytesPerSegment
            ? $", may grow to {Figures.Bytes(statistics.MaxCapacityBytes)}"
            : "";

    /// <summary>Returns the ratio of live bytes to the capacity of the segments.</summary>
    public static double Fill(StoreStatistics statistics) => Part(statistics.Totals.Bytes, (long)statistics.Segments * statistics.BytesPerSegment);

    private static double Part(long part, long whole) => whole == 0 ? 0 : (double)part / whole;

    private static void WriteCollections(ToolOutput output, StoreStatistics statistics)
    {
        var table = new TextTable("collection", ">entries", ">bytes", ">budget", "region");
        foreach (CollectionStatistics collection in AllCollections(statistics))
        {
            table.Add(
                NameOf(collection),
                Figures.Count(collection.Entries),
                Figures.Bytes(collection.Bytes),
                collection.BudgetBytes == 0 ? "-" : Figures.Bytes(collection.BudgetBytes),
                collection.Region == StoreRegion.Keep ? "keep" : "evict");
        }

        table.WriteTo(output);
    }

    /// <summary>Returns the readable name of a collection.</summary>
    public static string NameOf(CollectionStatistics collection) =>
        collection.Name.Length == 0 ? "(default)" : KeyText.Escape(System.Text.Encoding.UTF8.GetBytes(collection.Name));

    private static void WritePartitions(ToolOutput output, StoreStatistics statistics)
    {
        var table = new TextTable(
            ">partition", ">entries", ">bytes", ">segments", ">hits", ">misses", ">sets", ">evictions", ">lock waits", ">recoveries");
        for (int number = 0; number < statistics.Partitions.Count; number++)
        {
            PartitionStatistics partition = statistics.Partitions[number];
            table.Add(
                Figures.Count(number),
                Figures.Count(partition.Entries),
                Figures.Bytes(partition.Bytes),
                Figures.Bytes(partition.SegmentBytes),
                Figures.Count(partition.Hits),
                Figures.Count(partition.Misses),
                Figures.Count(partition.Sets),
                Figures.Count(partition.Evictions),
                Figures.Count(partition.LockWaits),
                Figures.Count(partition.Recoveries));
        }

        table.WriteTo(output);
    }

    private static void WriteCounters(Utf8JsonWriter writer, PartitionStatistics counters)
    {
        writer.WriteNumber("entries"u8, counters.Entries);
        writer.WriteNumber("bytes"u8, counters.Bytes);
        writer.WriteNumber("segmentBytes"u8, counters.SegmentBytes);
        writer.WriteNumber("hits"u8, counters.Hits);
        writer.WriteNumber("misses"u8, counters.Misses);
        writer.WriteNumber("hitRatio"u8, Math.Round(counters.HitRatio, 6));
        writer.WriteNumber("sets"u8, counters.Sets);
        writer.WriteNumber("removals"u8, counters.Removals);
        writer.WriteNumber("evictions"u8, counters.Evictions);
        writer.WriteNumber("displacements"u8, counters.Displacements);
        writer.WriteNumber("expirations"u8, counters.Expirations);
        writer.WriteNumber("ghostHits"u8, counters.GhostHits);
        writer.WriteNumber("declined"u8, counters.Declined);
        writer.WriteNumber("dropped"u8, counters.Dropped);
        writer.WriteNumber("lockWaits"u8, counters.LockWaits);
        writer.WriteNumber("recoveries"u8, counters.Recoveries);
        writer.WriteNumber("damagedEntries"u8, counters.DamagedEntries);
    }
}
