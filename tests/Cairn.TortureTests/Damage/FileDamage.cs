using System.Buffers.Binary;
using Cairn.Indexing;
using Cairn.Storage;

namespace Cairn.TortureTests.Damage;

// Damage that bad disks, bad memory and faulty programs cause. A seed chooses it: flipped bits, replaced words and runs of bytes, pages that are
// zeroed, swapped or copied, and truncation. Each damage is in one area of the file, because otherwise small areas would never be hit.
internal sealed class FileDamage
{
    private const int PageBytes = StoreLayout.PageBytes;
    private const int MostAtOnce = 3;

    private readonly (string Name, long Start, long End)[] _areas;
    private readonly StoreLayout _layout;
    private readonly Random _random;
    private readonly List<string> _done = [];
    private byte[] _bytes;

    private FileDamage(byte[] bytes, StoreLayout layout, int segmentCount, Random random)
    {
        _bytes = bytes;
        _layout = layout;
        _random = random;
        long segmentsEnd = layout.SegmentsOffset + ((long)segmentCount * layout.SegmentBytes);
        _areas =
        [
            ("superblock", 0, 96),
            ("superblock", 96, layout.CollectionsOffset),
            ("collections", layout.CollectionsOffset, layout.CollectionsOffset + (4 * StoreLayout.CollectionRecordBytes)),
            ("partitions", layout.PartitionsOffset, layout.OwnersOffset),
            ("partition's head", layout.PartitionsOffset, layout.PartitionsOffset + PartitionBlock.WatermarksOffset),
            ("owners", layout.OwnersOffset, layout.OwnersOffset + (3L * layout.OwnerRecordBytes)),
            ("segment headers", layout.SegmentHeadersOffset, layout.SegmentHeadersOffset + ((long)segmentCount * StoreLayout.SegmentHeaderBytes)),
            ("segment headers", layout.SegmentHeadersOffset, layout.SegmentHeadersOffset + ((long)segmentCount * StoreLayout.SegmentHeaderBytes)),
            ("ghosts", layout.GhostsOffset, layout.IndexOffset),
            ("index", layout.IndexOffset, layout.SegmentsOffset),
            ("index", layout.IndexOffset, layout.SegmentsOffset),
            ("segments", layout.SegmentsOffset, segmentsEnd),
            ("segments", layout.SegmentsOffset, segmentsEnd),
            ("all", 96, bytes.Length),
        ];
    }

    /// <summary>Damages a copy of a file.</summary>
    /// <returns>The damaged copy, and a description of the damage.</returns>
    public static (byte[] Bytes, string Description) Do(DamageScene scene, int seed)
    {
        var damage = new FileDamage([.. scene.Bytes], scene.Layout, scene.SegmentCount, new Random(seed));
        for (int i = damage._random.Next(1, MostAtOnce + 1); i > 0; i--)
        {
            damage.DoOne();
        }

        return (damage._bytes, string.Join("; ", damage._done));
    }

    private void DoOne()
    {
        (string area, long start, long end) = _areas[_random.Next(_areas.Length)];
        end = Math.Min(end, _bytes.Length);
        if (start >= end)
        {
            return; // The file was truncated before this position.
        }

        int at = (int)_random.NextInt64(start, end);
        switch (_random.Next(30))
        {
            case > 26:
                DamageSlot();
                break;
            case > 23:
                DamageEntry();
                break;
            case < 5:
                Flip(at);
                Note($"a bit flipped at {at}", area);
                break;
            case < 8:
                int bits = 1 << _random.Next(1, 9);
                for (int i = 0; i < bits; i++)
                {
                    Flip((int)_random.NextInt64(start, end));
                }

                Note($"{bits} bits flipped", area);
                break;
            case < 13:
                ReplaceWord(at & ~7, area);
                break;
            case < 16:
                ReplaceHalfWord(at & ~3, area);
                break;
            case < 18:
                int run = Math.Min(_random.Next(1, 300), _bytes.Length - at);
                _random.NextBytes(_bytes.AsSpan(at, run));
                Note($"{run} random bytes at {at}", area);
                break;
            case < 20:
                int zeros = Math.Min(4 << _random.Next(0, 8), _bytes.Length - at);
                _bytes.AsSpan(at & ~3, zeros).Clear();
                Note($"{zeros} bytes zeroed at {at & ~3}", area);
                break;
            case 20:
                _bytes.AsSpan(PageOf(at), PageAt(at)).Clear();
                Note($"page zeroed at {PageOf(at)}", area);
                break;
            case 21:
                SwapPages(at, (int)_random.NextInt64(start, end), area);
                break;
            case 22:
                CopyPage(_random.Next(_bytes.Length), at, area);
                break;
            default:
                Truncate(at, area);
                break;
        }
    }

    private void Flip(int at) => _bytes[at] ^= (byte)(1 << _random.Next(8));

    private void ReplaceWord(int at, string area)
    {
        if (at + 8 > _bytes.Length)
        {
            return;
        }

        Span<byte> word = _bytes.AsSpan(at, 8);
        ulong old = BinaryPrimitives.ReadUInt64LittleEndian(word);
        ulong other = BinaryPrimitives.ReadUInt64LittleEndian(_bytes.AsSpan(_random.Next(_bytes.Length / 8) * 8));
        ulong replaced = GarbageWord.Of(_random, old, other);
        BinaryPrimitives.WriteUInt64LittleEndian(word, replaced);
        Note($"0x{old:X} replaced by 0x{replaced:X} at {at}", area);
    }

    private void ReplaceHalfWord(int at, string area)
    {
        if (at + 4 > _bytes.Length)
        {
            return;
        }

        Span<byte> word = _bytes.AsSpan(at, 4);
        uint old = BinaryPrimitives.ReadUInt32LittleEndian(word);
        uint replaced = GarbageWord.Of(_random, old);
        BinaryPrimitives.WriteUInt32LittleEndian(word, replaced);
        Note($"0x{old:X} replaced by 0x{replaced:X} at {at}", area);
    }

    // Damages a slot. Afterwards it leads to a place next to its entry, to the entry of another slot, or to an entry that two slots name.
    private void DamageSlot()
    {
        int[] slots = UsedSlots();
        if (slots.Length == 0)
        {
            return;
        }

        int at = slots[_random.Next(slots.Length)];
        Span<byte> slot = _bytes.AsSpan(at, 8);
        ulong old = BinaryPrimitives.ReadUInt64LittleEndian(slot);
        ulong other = BinaryPrimitives.ReadUInt64LittleEndian(_bytes.AsSpan(slots[_random.Next(slots.Length)], 8));
        const ulong Location = (1UL << 44) - 1;
        ulong replaced = _random.Next(4) switch
        {
            0 => old + (ulong)_random.Next(-4, 5),
            1 => (old & ~Location) | (other & Location),
            2 => other,
            _ => old ^ (1UL << _random.Next(44)),
        };
        BinaryPrimitives.WriteUInt64LittleEndian(slot, replaced);
        Note($"0x{old:X} replaced by 0x{replaced:X} at {at}", "slots");
    }

    // Damages the lengths, type or fields of an entry that a slot names.
    private void DamageEntry()
    {
        int[] slots = UsedSlots();
        if (slots.Length == 0)
        {
            return;
        }

        long entry = Bucket.LocationOf(BinaryPrimitives.ReadUInt64LittleEndian(_bytes.AsSpan(slots[_random.Next(slots.Length)], 8)));
        entry += 4 * _random.Next(0, 6);
        if (entry <= _bytes.Length - 8)
        {
            int at = (int)entry;
            if (_random.Next(2) == 0)
            {
                Flip(at);
                Note($"a bit flipped at {at}", "entries");
            }
            else
            {
                ReplaceHalfWord(at, "entries");
            }
        }
    }

    private int[] UsedSlots() =>
    [
        .. Enumerable.Range(0, (int)(Math.Max(0, Math.Min(_layout.SegmentsOffset, _bytes.Length) - _layout.IndexOffset) / 8))
            .Where(word => word % 8 != 0)
            .Select(word => (int)_layout.IndexOffset + (8 * word))
            .Where(at => BinaryPrimitives.ReadUInt64LittleEndian(_bytes.AsSpan(at, 8)) != 0),
    ];

    private void SwapPages(int at, int other, string area)
    {
        int length = Math.Min(PageAt(at), PageAt(other));
        byte[] page = _bytes.AsSpan(PageOf(at), length).ToArray();
        _bytes.AsSpan(PageOf(other), length).CopyTo(_bytes.AsSpan(PageOf(at)));
        page.CopyTo(_bytes.AsSpan(PageOf(other)));
        Note($"pages at {PageOf(at)} and {PageOf(other)} swapped", area);
    }

    private void CopyPage(int from, int to, string area)
    {
        int length = Math.Min(PageAt(from), PageAt(to));
        _bytes.AsSpan(PageOf(from), length).CopyTo(_bytes.AsSpan(PageOf(to)));
        Note($"page at {PageOf(from)} copied to {PageOf(to)}", area);
    }

    private void Truncate(int at, string area)
    {
        int length = _random.Next(2) == 0 ? at : PageOf(at);
        _bytes = _bytes[..length];
        Note($"cut off at {length}", area);
    }

    private static int PageOf(int at) => at & -PageBytes;

    private int PageAt(int at) => Math.Min(PageBytes, _bytes.Length - PageOf(at));

    private void Note(string what, string area) => _done.Add($"{what} ({area})");
}
