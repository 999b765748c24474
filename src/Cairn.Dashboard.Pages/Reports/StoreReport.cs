using System.Text.Json;
using Cairn.Dashboard.Pages.Access;
using Cairn.Dashboard.Pages.Keys;
using Cairn.Storage;
using Cairn.Analysis;

namespace Cairn.Dashboard.Pages.Reports;

/// <summary>Writes reports of a store.</summary>
internal static class StoreReport
{
    private const int BiggestCount = 50;
    private const int AgeGroups = 10;

    // The memory view asks every three seconds. So each page that shows it takes at most 1 % of a core.
    private static readonly TimeSpan s_glance = TimeSpan.FromMilliseconds(25);

    /// <summary>Writes the statistics of a store.</summary>
    public static void WriteNow(Utf8JsonWriter writer, StoreStatistics statistics)
    {
        PartitionStatistics totals = statistics.Totals;
        writer.WriteStartObject("store"u8);
        writer.WriteNumber("entries"u8, totals.Entries);
        writer.WriteNumber("bytes"u8, totals.Bytes);
        writer.WriteNumber("segmentBytes"u8, totals.SegmentBytes);
        writer.WriteNumber("capacityBytes"u8, (long)statistics.Segments * statistics.BytesPerSegment);
        writer.WriteNumber("fileBytes"u8, statistics.FileBytes);
        writer.WriteNumber("maxCapacityBytes"u8, statistics.MaxCapacityBytes);
        writer.WriteNumber("indexSlots"u8, statistics.IndexSlots);
        writer.WriteNumber("partitions"u8, statistics.Partitions.Count);
        writer.WriteNumber("openings"u8, statistics.Openings);
        writer.WriteNumber("hits"u8, totals.Hits);
        writer.WriteNumber("misses"u8, totals.Misses);
        writer.WriteNumber("sets"u8, totals.Sets);
        writer.WriteNumber("removals"u8, totals.Removals);
        writer.WriteNumber("evictions"u8, totals.Evictions);
        writer.WriteNumber("expirations"u8, totals.Expirations);
        writer.WriteNumber("expiredBytes"u8, totals.ExpiredBytes);
        writer.WriteNumber("ghostHits"u8, totals.GhostHits);
        writer.WriteNumber("declined"u8, totals.Declined);
        writer.WriteNumber("lockWaits"u8, totals.LockWaits);
        writer.WriteNumber("recoveries"u8, totals.Recoveries);
        writer.WriteNumber("damagedEntries"u8, totals.DamagedEntries);
        writer.WriteNumber("createdMs"u8, statistics.CreatedAt.ToUnixTimeMilliseconds());
        writer.WriteEndObject();
    }

    /// <summary>Writes the use of the segments by log and by age, and the remaining lifetimes of entries.</summary>
    public static void WriteMemory(Utf8JsonWriter writer, CairnStore store, CancellationToken cancellationToken)
    {
        SegmentUse[] segments = store.GetSegments();
        StoreStatistics statistics = store.GetStatistics();
        writer.WriteNumber("bytesPerSegment"u8, statistics.BytesPerSegment);
        writer.WriteNumber("liveBytes"u8, statistics.Totals.Bytes);
        writer.WriteString("map"u8, string.Concat(segments.Select(LetterOf)));
        writer.WriteStartArray("fill"u8);
        foreach (SegmentUse segment in segments)
        {
            writer.WriteNumberValue(Percent(segment.LiveBytes, statistics.BytesPerSegment));
        }

        writer.WriteEndArray();
        WriteLogs(writer, segments, statistics.BytesPerSegment);
        WriteAges(writer, segments);
        var analysis = store.Analyze(new AnalysisRequest { MaxTime = s_glance }, cancellationToken);
        writer.WriteNumber("searched"u8, analysis.Searched);
        WriteLives(writer, analysis);
        writer.WriteStartArray("collections"u8);
        foreach (CollectionStatistics collection in statistics.Collections)
        {
            writer.WriteStartObject();
            writer.WriteString("name"u8, collection.Name);
            writer.WriteNumber("entries"u8, collection.Entries);
            writer.WriteNumber("bytes"u8, collection.Bytes);
            writer.WriteNumber("budgetBytes"u8, collection.BudgetBytes);
            writer.WriteBoolean("isKept"u8, collection.Region == StoreRegion.Keep);
            writer.WriteEndObject();
        }

        writer.WriteEndArray();
    }

    /// <summary>Reads all entries that a user may see, and writes the biggest ones and the distributions of sizes and lifetimes.</summary>
    public static void WriteAnalysis(Utf8JsonWriter writer, CairnStore store, DashboardUser user, CancellationToken cancellationToken)
    {
        var request = new AnalysisRequest
        {
            BiggestCount = BiggestCount, Prefix = user.KeyPrefix, IsOwnCollectionOnly = user.KeyPrefix.Length > 0,
        };
        KeySpaceAnalysis analysis = store.Analyze(request, cancellationToken);
        writer.WriteNumber("entries"u8, analysis.Sizes.Entries);
        writer.WriteNumber("valueBytes"u8, analysis.Sizes.ValueBytes);
        writer.WriteStartArray("biggest"u8);
        foreach (EntrySize entry in analysis.Biggest)
        {
            writer.WriteStartObject();
            KeyBrowser.WriteKey(writer, entry.Key.Span);
            writer.WriteString("collection"u8, entry.Collection);
            writer.WriteNumber("valueBytes"u8, entry.ValueBytes);
            writer.WriteEndObject();
        }

        writer.WriteEndArray();
        writer.WriteStartArray("sizes"u8);
        foreach (SizeBin bin in analysis.Sizes.Bins)
        {
            writer.WriteStartObject();
            writer.WriteNumber("fromBytes"u8, bin.FromBytes);
            writer.WriteNumber("toBytes"u8, bin.ToBytes);
            writer.WriteNumber("entries"u8, bin.Entries);
            writer.WriteNumber("valueBytes"u8, bin.ValueBytes);
            writer.WriteEndObject();
        }

        writer.WriteEndArray();
        WriteLives(writer, analysis);
    }

    private static void WriteLogs(Utf8JsonWriter writer, SegmentUse[] segments, int bytesPerSegment)
    {
        writer.WriteStartArray("logs"u8);
        foreach (IGrouping<char, SegmentUse> log in segments.GroupBy(LetterOf))
        {
            writer.WriteStartObject();
            writer.WriteString("letter"u8, log.Key.ToString());
            writer.WriteNumber("segments"u8, log.Count());
            writer.WriteNumber("bytes"u8, (long)log.Count() * bytesPerSegment);
            writer.WriteNumber("liveBytes"u8, log.Sum(segment => (long)segment.LiveBytes));
            writer.WriteEndObject();
        }

        writer.WriteEndArray();
    }

    // Segments have no creation time, but their partition seals them in an order. They are grouped into tenths, the oldest first.
    private static void WriteAges(Utf8JsonWriter writer, SegmentUse[] segments)
    {
        var live = new long[AgeGroups];
        var dead = new long[AgeGroups];
        foreach (IGrouping<int, SegmentUse> partition in segments.Where(segment => segment.State == SegmentState.Sealed).GroupBy(segment => segment.Partition))
        {
            SegmentUse[] inOrder = [.. partition.OrderBy(segment => segment.SealOrder)];
            for (int i = 0; i < inOrder.Length; i++)
            {
                int group = i * AgeGroups / inOrder.Length;
                live[group] += inOrder[i].LiveBytes;
                dead[group] += Math.Max(0, inOrder[i].UsedBytes - inOrder[i].LiveBytes);
            }
        }

        writer.WriteStartArray("ages"u8);
        for (int group = 0; group < AgeGroups; group++)
        {
            writer.WriteStartObject();
            writer.WriteNumber("liveBytes"u8, live[group]);
            writer.WriteNumber("deadBytes"u8, dead[group]);
            writer.WriteEndObject();
        }

        writer.WriteEndArray();
    }

    private static void WriteLives(Utf8JsonWriter writer, KeySpaceAnalysis analysis)
    {
        writer.WriteStartArray("lives"u8);
        foreach (LifeBin bin in analysis.Lives)
        {
            WriteLife(writer, bin);
        }

        writer.WriteEndArray();
    }

    // Null means later than all other bins; an absent value means never.
    private static void WriteLife(Utf8JsonWriter writer, in LifeBin bin)
    {
        writer.WriteStartObject();
        if (bin.WithinSeconds == long.MaxValue)
        {
            writer.WriteNull("withinSeconds"u8);
        }
        else if (bin.WithinSeconds >= 0)
        {
            writer.WriteNumber("withinSeconds"u8, bin.WithinSeconds);
        }

        writer.WriteNumber("entries"u8, bin.Entries);
        writer.WriteNumber("valueBytes"u8, bin.ValueBytes);
        writer.WriteEndObject();
    }

    private static int Percent(int part, int whole) => (int)Math.Clamp(100L * part / Math.Max(1, whole), 0, 100);

    private static char LetterOf(SegmentUse segment) => segment.State switch
    {
        SegmentState.Free => 'f',
        SegmentState.Spare or SegmentState.Retired or SegmentState.Reserved => 'r',
        SegmentState.RunBody => 'l',
        _ when segment.RunLength > 1 => 'l',
        _ => segment.Log switch
        {
            PartitionBlock.LogSmall => 's',
            PartitionBlock.LogMain => 'm',
            PartitionBlock.LogKeep => 'k',
            _ => 't',
        },
    };
}
