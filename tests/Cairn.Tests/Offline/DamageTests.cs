using System.Runtime.InteropServices;
using System.Text;
using Cairn.Collections;
using Cairn.Platform;
using Cairn.Storage;

namespace Cairn.Tests.Offline;

/// <summary>Verifying stores that were damaged from outside finds and names each kind of damage.</summary>
public sealed class DamageTests : StoreTest
{
    private static readonly Dictionary<string, (VerifyArea Area, Action<StoreSurgeon> Cut)> Damages = new(StringComparer.Ordinal)
    {
        ["magic"] = (VerifyArea.Superblock, file => file.Flip(0, 3)),
        ["format version"] = (VerifyArea.Superblock, file => file.WriteUInt32(8, 2)),
        ["required features"] = (VerifyArea.Superblock, file => file.WriteUInt32(12, 1)),
        ["maximum capacity"] = (VerifyArea.Superblock, file => file.Flip(16, 5)),
        ["segment size"] = (VerifyArea.Superblock, file => file.Flip(28, 0)),
        ["hash seed"] = (VerifyArea.Superblock, file => file.Flip(41, 1)),
        ["layout check"] = (VerifyArea.Superblock, file => file.Flip(88, 1)),
        ["state"] = (VerifyArea.Superblock, file => file.WriteUInt32(Super(nameof(Superblock.State)), 77)),
        ["segment count"] = (VerifyArea.Superblock, file => file.WriteUInt32(Super(nameof(Superblock.SegmentCount)), 1)),
        ["collection count, too high"] = (VerifyArea.Superblock, file => file.WriteUInt32(Super(nameof(Superblock.CollectionCount)), 500)),
        ["collection count, too low"] = (VerifyArea.Collections, file => file.WriteUInt32(Super(nameof(Superblock.CollectionCount)), 0)),
        ["owner slots"] = (VerifyArea.Superblock, file => file.WriteUInt32(Super(nameof(Superblock.OwnerHighWater)), 999)),

        ["collection's name, not text"] = (VerifyArea.Collections, file => file.Write(Collection(file, 1, nameof(CollectionRecord.Name)), [0xFF, 0xFE])),
        ["collection's name, length"] = (VerifyArea.Collections, file => file.Write(Collection(file, 1, nameof(CollectionRecord.NameBytes)), [0xFF, 0xFF])),
        ["collection's name, of another"] = (VerifyArea.Collections, file => file.Write(
            file.Layout.CollectionsOffset + 256, file.Read(file.Layout.CollectionsOffset + 512, 256))),
        ["collection's region"] = (VerifyArea.Collections, file => file.Flip(Collection(file, 1, nameof(CollectionRecord.RegionMark)), 3)),
        ["collection's expiration"] = (VerifyArea.Collections, file => file.Write(Collection(file, 1, nameof(CollectionRecord.ExpirationKind)), [9])),
        ["collection's budget"] = (VerifyArea.Collections, file => file.Flip(Collection(file, 1, nameof(CollectionRecord.BudgetBytes)) + 7, 7)),

        ["partition's mark"] = (VerifyArea.Partitions, file => file.Flip(file.Partition(0), 0)),
        ["partition's version"] = (VerifyArea.Partitions, file => file.WriteUInt64(file.Partition(0, Block(nameof(PartitionBlock.Version))), 5)),
        ["watermark"] = (VerifyArea.Partitions, file => file.Flip(file.Partition(0, PartitionBlock.WatermarksOffset + 16), 2)),
        ["watermark's complement"] = (VerifyArea.Partitions, file => file.Flip(file.Partition(0, PartitionBlock.WatermarksOffset + 24), 2)),
        ["spare list, head"] = (VerifyArea.Partitions, file => file.WriteUInt32(file.Partition(0, Block(nameof(PartitionBlock.SpareHead))), 1_000_000)),
        ["spare list, count"] = (VerifyArea.Partitions, file => file.WriteUInt32(file.Partition(0, Block(nameof(PartitionBlock.SpareCount))), 77)),
        ["small queue, head"] = (VerifyArea.Partitions, file => file.WriteUInt32(file.Partition(0, Block(nameof(PartitionBlock.SmallHead))), 0)),
        ["small queue, tail"] = (VerifyArea.Partitions, file => file.Flip(file.Partition(0, Block(nameof(PartitionBlock.SmallTail))), 0)),
        ["main queue, count"] = (VerifyArea.Partitions, file => file.Flip(file.Partition(0, Block(nameof(PartitionBlock.MainCount))), 4)),
        ["retired list"] = (VerifyArea.Partitions, file => file.WriteUInt32(file.Partition(0, Block(nameof(PartitionBlock.RetiredHead))), 1)),
        ["victim"] = (VerifyArea.Partitions, file => file.WriteUInt32(file.Partition(0, Block(nameof(PartitionBlock.Victim))), 0xFFFF)),
        ["open segment"] = (VerifyArea.Partitions, file => file.WriteUInt32(file.Partition(0, Block(nameof(PartitionBlock.ActiveSegment))), 0)),
        ["open segment's tail"] = (VerifyArea.Partitions, file => file.Flip(file.Partition(0, Block(nameof(PartitionBlock.ActiveTail))), 3)),
        ["segments of a partition"] = (VerifyArea.Partitions, file => file.Flip(file.Partition(0, Block(nameof(PartitionBlock.SegmentCount))), 1)),
        ["entries of a partition"] = (VerifyArea.Partitions, file => file.Flip(file.Partition(0, Block(nameof(PartitionBlock.Entries))), 6)),
        ["bytes of a partition"] = (VerifyArea.Partitions, file => file.Flip(file.Partition(0, Block(nameof(PartitionBlock.LiveBytes))), 6)),
        ["entries of a collection"] = (VerifyArea.Partitions, file => file.Flip(file.Partition(0, PartitionBlock.CollectionCountersOffset + 16), 6)),

        ["owner's pin"] = (VerifyArea.Owners, file => file.WriteUInt32(file.Layout.OwnersOffset + 64, 0x7FFF_0000)),

        ["segment's state"] = (VerifyArea.Segments, file => file.Write(file.Header(file.SegmentIn(SegmentState.Sealed)), [99])),
        ["segment's partition"] = (VerifyArea.Segments, file => file.Write(file.Header(file.SegmentIn(SegmentState.Sealed), 2), [63])),
        ["segment freed"] = (VerifyArea.Index, file => file.WriteUInt32(file.Header(NamedSegment(file)), 0)),
        ["segment's tail"] = (VerifyArea.Segments, file => file.WriteUInt32(file.Header(file.SegmentIn(SegmentState.Sealed), 4), 5)),
        ["segment's link"] = (VerifyArea.Partitions, file => file.WriteUInt32(file.Header(file.SegmentIn(SegmentState.Sealed), 32), 0xFFFF_FF00)),
        ["segment's link back"] = (VerifyArea.Partitions, file => file.Flip(file.Header(file.SegmentIn(SegmentState.Sealed), 36), 3)),
        ["segment's seal order"] = (VerifyArea.Partitions, file => file.Flip(file.Header(file.SegmentIn(SegmentState.Sealed), 8) + 6, 0)),
        ["segment's run"] = (VerifyArea.Segments, file => file.WriteUInt32(file.Header(file.SegmentIn(SegmentState.Sealed), 28), 0x4000_0000)),
        ["segment's live bytes"] = (VerifyArea.Partitions, file => file.Flip(file.Header(file.SegmentIn(SegmentState.Sealed), 24), 4)),
        ["spare's link in a circle"] = (VerifyArea.Partitions, file =>
        {
            int spare = file.SegmentIn(SegmentState.Spare);
            file.WriteUInt32(file.Header(spare, 32), (uint)spare + 1);
        }),

        ["slot's location, outside"] = (VerifyArea.Index, file => file.Flip(file.UsedSlots().First() + 5, 3)),
        ["slot's location, nearby"] = (VerifyArea.Entries, file => file.Flip(file.UsedSlots().First(), 0)),
        ["slot's stamp"] = (VerifyArea.Index, file => file.Flip(file.UsedSlots().First() + 5, 5)),
        ["slot's tag"] = (VerifyArea.Index, file => file.Flip(file.UsedSlots().First() + 6, 2)),
        ["slot moved to another bucket"] = (VerifyArea.Index, file => Move(file, file.UsedSlots().First())),
        ["slot twice in a bucket"] = (VerifyArea.Index, file =>
        {
            long slot = file.UsedSlots().First();
            long bucket = slot - ((slot - file.Layout.IndexOffset) % 64);
            long empty = Enumerable.Range(1, 7).Select(i => bucket + (8 * i)).First(offset => file.ReadUInt64(offset) == 0);
            file.WriteUInt64(empty, file.ReadUInt64(slot));
        }),

        ["entry's key length"] = (VerifyArea.Entries, file => file.Flip(FirstEntry(file), 0)),
        ["entry's type"] = (VerifyArea.Entries, file => file.Flip(FirstEntry(file) + 2, 1)),
        ["entry's fields"] = (VerifyArea.Entries, file => file.Flip(FirstEntry(file) + 3, 6)),
        ["entry's value length"] = (VerifyArea.Entries, file => file.Flip(FirstEntry(file) + 7, 6)),
        ["entry's version"] = (VerifyArea.Entries, file => file.Flip(FirstEntry(file) + 10, 4)),
        ["entry's checksum"] = (VerifyArea.Entries, file => file.Flip(FirstEntry(file) + 16, 0)),
        ["entry's key or value"] = (VerifyArea.Entries, file => file.Flip(FirstEntry(file) + 24, 0)),
        ["long value"] = (VerifyArea.Entries, file => file.Flip(LongEntry(file) + 250_000, 7)),
        ["sliding deadline"] = (VerifyArea.Entries, file => file.Flip(SlidingEntry(file) + 24, 0)),

        ["zeroed superblock"] = (VerifyArea.Superblock, file => file.Zero(0, 4096)),
        ["zeroed partition"] = (VerifyArea.Partitions, file => file.Zero(file.Layout.PartitionsOffset, 4096)),
        ["zeroed segment headers"] = (VerifyArea.Index, file => file.Zero((file.Header(NamedSegment(file)) / 4096) * 4096, 4096)),
        ["zeroed index"] = (VerifyArea.Partitions, file => file.Zero((file.UsedSlots().First() / 4096) * 4096, 4096)),
        ["zeroed entries"] = (VerifyArea.Entries, file => file.Zero((FirstEntry(file) / 4096) * 4096, 4096)),

        ["cut off in the segments"] = (VerifyArea.File, file => file.Truncate(file.Segment(file.SegmentCount / 2))),
        ["cut off in the index"] = (VerifyArea.Index, file => file.Truncate(file.Layout.IndexOffset + 100)),
        ["cut off in the partitions"] = (VerifyArea.Partitions, file => file.Truncate(file.Layout.PartitionsOffset + 100)),
        ["cut off in the first page"] = (VerifyArea.Superblock, file => file.Truncate(1_000)),
        ["cut off to nothing"] = (VerifyArea.Superblock, file => file.Truncate(0)),
    };

    public static TheoryData<string> Names => [.. Damages.Keys];

    [Theory]
    [MemberData(nameof(Names))]
    public void Damage_is_found_and_named(string name)
    {
        (VerifyArea area, Action<StoreSurgeon> cut) = Damages[name];
        FillAndClose();
        using (var surgeon = new StoreSurgeon(FilePath))
        {
            cut(surgeon);
        }

        VerifyReport report = StoreMaintenance.Verify(FilePath, new VerifyOptions { TimeProvider = Clock });

        Assert.False(report.IsSound);
        Assert.True(
            report.Findings.Any(finding => finding.Severity == VerifySeverity.Damage && finding.Area == area),
            string.Join('\n', report.Findings.Select(finding => finding.ToString())));
        Assert.All(report.Findings, finding => Assert.InRange(finding.Offset, 0, Math.Max(report.FileBytes, 40L << 20)));
    }

    [Fact]
    public void Anything_that_changes_after_a_flushed_close_is_found()
    {
        FillAndClose(Options with { FlushOnClose = true });
        using (var surgeon = new StoreSurgeon(FilePath))
        {
            // A statistic: only the checksum of the closed file covers it.
            surgeon.Flip(surgeon.Partition(0, Block(nameof(PartitionBlock.GhostHits))), 0);
        }

        VerifyReport report = StoreMaintenance.Verify(FilePath, new VerifyOptions { TimeProvider = Clock });

        VerifyFinding finding = Assert.Single(report.Findings);
        Assert.Equal((VerifySeverity.Damage, VerifyArea.Superblock), (finding.Severity, finding.Area));
        Assert.Contains("since the store was closed", finding.Text, StringComparison.Ordinal);
    }

    [Fact]
    public void File_that_is_no_store_is_a_finding()
    {
        File.WriteAllText(FilePath, new string('x', 10_000));

        VerifyReport report = StoreMaintenance.Verify(FilePath);

        VerifyFinding finding = Assert.Single(report.Findings);
        Assert.Equal((VerifyArea.Superblock, 0L), (finding.Area, finding.Offset));
        Assert.Equal((false, 0), (report.IsSound, report.Partitions));
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(4)]
    public void Every_bit_of_a_live_entry_counts(int seed)
    {
        FillAndClose();
        var random = new Random(seed);
        using var surgeon = new StoreSurgeon(FilePath);
        long[] slots = [.. surgeon.UsedSlots()];
        for (int i = 0; i < 60; i++)
        {
            long entry = surgeon.EntryOf(slots[random.Next(slots.Length)]);
            long bytes = EntryBytes(surgeon, entry);
            long at = entry + random.NextInt64(bytes);
            int bit = random.Next(8);
            surgeon.Flip(at, bit);

            VerifyReport report = StoreMaintenance.Verify(FilePath, new VerifyOptions { TimeProvider = Clock });

            Assert.False(report.IsSound, $"Seed {seed}: bit {bit} of byte {at - entry} of the entry of {bytes} bytes at {entry}.");
            surgeon.Flip(at, bit);
        }

        Assert.True(StoreMaintenance.Verify(FilePath, new VerifyOptions { TimeProvider = Clock }).IsSound);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void Whatever_is_in_the_file_it_is_verified_to_the_end(int seed)
    {
        FillAndClose(Options with { CapacityBytes = StoreLimits.MinCapacityBytes });
        byte[] whole = File.ReadAllBytes(FilePath);
        var random = new Random(seed);
        for (int i = 0; i < 150; i++)
        {
            byte[] bytes = [.. whole];
            Damage(bytes, random);
            File.WriteAllBytes(FilePath, bytes);

            VerifyReport report = StoreMaintenance.Verify(FilePath, new VerifyOptions { TimeProvider = Clock, MaxFindings = 10 });

            Assert.InRange(report.Findings.Count, 0, 10);
            Assert.Equal(report.DamageCount == 0, report.IsSound);
        }
    }

    [Fact]
    public void Findings_beyond_the_limit_are_counted_and_damage_comes_first()
    {
        FillAndClose();
        using (var surgeon = new StoreSurgeon(FilePath))
        {
            foreach (long slot in surgeon.UsedSlots().ToList())
            {
                surgeon.Flip(surgeon.EntryOf(slot) + 16, 0);
            }
        }

        VerifyReport report = StoreMaintenance.Verify(FilePath, new VerifyOptions { TimeProvider = Clock, MaxFindings = 5 });

        Assert.Equal(5, report.Findings.Count);
        Assert.True(report.DamageCount > 500);
        Assert.All(report.Findings, finding => Assert.Equal(VerifySeverity.Damage, finding.Severity));
    }

    // Does not damage the layout, because otherwise only the first page would be read.
    private static void Damage(byte[] bytes, Random random)
    {
        for (int cuts = random.Next(1, 20); cuts > 0; cuts--)
        {
            int at = random.Next(96, bytes.Length);
            switch (random.Next(4))
            {
                case 0:
                    bytes[at] ^= (byte)(1 << random.Next(8));
                    break;
                case 1:
                    bytes.AsSpan(at, Math.Min(bytes.Length - at, random.Next(5_000))).Clear();
                    break;
                case 2:
                    random.NextBytes(bytes.AsSpan(at, Math.Min(bytes.Length - at, random.Next(200))));
                    break;
                default:
                    // A page from elsewhere, as a faulty disk would write it.
                    int page = Math.Min(bytes.Length - at, 4096);
                    bytes.AsSpan(random.Next(bytes.Length - page), page).CopyTo(bytes.AsSpan(at));
                    break;
            }
        }
    }

    private static long EntryBytes(StoreSurgeon file, long entry)
    {
        uint word = file.ReadUInt32(entry);
        return EntryView.HeaderBytes + EntryView.FieldsLength((EntryFields)(byte)(word >> 24)) + (ushort)word + 1 + file.ReadUInt32(entry + 4);
    }

    private static long FirstEntry(StoreSurgeon file) =>
        file.UsedSlots().Select(file.EntryOf).First(entry => file.ReadUInt32(entry + 4) is > 20 and < 1_000);

    private static int NamedSegment(StoreSurgeon file) =>
        (int)((FirstEntry(file) - file.Layout.SegmentsOffset) / file.Layout.SegmentBytes);

    private static long LongEntry(StoreSurgeon file) =>
        file.UsedSlots().Select(file.EntryOf).First(entry => file.ReadUInt32(entry + 4) >= 300_000);

    private static long SlidingEntry(StoreSurgeon file) =>
        file.UsedSlots().Select(file.EntryOf).First(entry => ((EntryFields)(byte)(file.ReadUInt32(entry) >> 24)).HasFlag(EntryFields.Sliding));

    private static void Move(StoreSurgeon file, long slot)
    {
        ulong word = file.ReadUInt64(slot);
        for (long bucket = slot + 640 - ((slot - file.Layout.IndexOffset) % 64); ; bucket += 64)
        {
            for (int i = 1; i <= 7; i++)
            {
                if (file.ReadUInt64(bucket + (8 * i)) == 0)
                {
                    file.WriteUInt64(bucket + (8 * i), word);
                    file.WriteUInt64(slot, 0);
                    return;
                }
            }
        }
    }

    private static int Super(string field) => (int)Marshal.OffsetOf<Superblock>(field);

    private static int Block(string field) => (int)Marshal.OffsetOf<PartitionBlock>(field);

    private static long Collection(StoreSurgeon file, int number, string field) =>
        file.Layout.CollectionsOffset + (number * 256) + Marshal.OffsetOf<CollectionRecord>(field);

    private void FillAndClose(StoreOptions? options = null)
    {
        CairnStore store = Open(options ?? Options);
        CairnCollection cache = store.DefaultCollection;
        bool isTiny = store.MaxValueBytes < 400_000;
        store.Collection("first").Set("key", "value"u8);
        store.Collection("second").Set("key", "value"u8);
        for (int i = 0; i < (isTiny ? 500 : 3_000); i++)
        {
            cache.Set($"key:{i}", TestBytes.Of(100 + (i % 300)), flags: (uint)i % 2);
            cache.Get($"key:{i / 2}");
            store.Collection("first").Set($"key:{i % 100}", Encoding.UTF8.GetBytes($"{i}"), TimeSpan.FromHours(1));
        }

        cache.Set("long", TestBytes.Of(isTiny ? 100_000 : 300_000));
        cache.Set("sliding", TestBytes.Of(10), Expiration.Sliding(TimeSpan.FromHours(1)));
        store.Dispose();
    }
}
