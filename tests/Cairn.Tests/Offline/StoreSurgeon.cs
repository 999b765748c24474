using Cairn.Indexing;
using Cairn.Storage;

namespace Cairn.Tests.Offline;

/// <summary>Changes single fields of a store's file, which it finds by the file's layout.</summary>
internal sealed class StoreSurgeon : IDisposable
{
    private readonly FileStream _file;

    public StoreSurgeon(string path)
    {
        _file = new FileStream(path, FileMode.Open, FileAccess.ReadWrite, FileShare.ReadWrite);
        Layout = StoreLayout.Restore(
            ReadInt64(16), (int)ReadUInt32(24), (int)ReadUInt32(28), (int)ReadUInt32(32), (int)ReadUInt32(36))!;
        SegmentCount = (int)ReadUInt32(256);
    }

    public StoreLayout Layout { get; }

    public int SegmentCount { get; }

    public long Length => _file.Length;

    public void Dispose() => _file.Dispose();

    public long Partition(int number, int field = 0) => Layout.PartitionsOffset + ((long)number * Layout.PartitionBlockBytes) + field;

    public long Header(int segment, int field = 0) => Layout.SegmentHeadersOffset + ((long)segment * StoreLayout.SegmentHeaderBytes) + field;

    public long Segment(int segment) => Layout.SegmentsOffset + ((long)segment * Layout.SegmentBytes);

    /// <summary>Returns the offsets of the slots that name an entry.</summary>
    public IEnumerable<long> UsedSlots()
    {
        for (long offset = Layout.IndexOffset; offset < Layout.SegmentsOffset; offset += sizeof(ulong))
        {
            bool isMetadata = (offset - Layout.IndexOffset) % StoreLayout.BucketBytes == 0;
            if (!isMetadata && ReadUInt64(offset) != 0)
            {
                yield return offset;
            }
        }
    }

    /// <summary>Returns the offset of a slot's entry.</summary>
    public long EntryOf(long slotOffset) => Bucket.LocationOf(ReadUInt64(slotOffset));

    /// <summary>Returns the first segment in a state.</summary>
    public int SegmentIn(SegmentState state) =>
        Enumerable.Range(0, SegmentCount).First(segment => (SegmentState)(byte)ReadUInt32(Header(segment)) == state);

    public byte[] Read(long offset, int count)
    {
        var bytes = new byte[count];
        _file.Position = offset;
        _file.ReadExactly(bytes);
        return bytes;
    }

    public uint ReadUInt32(long offset) => BitConverter.ToUInt32(Read(offset, 4));

    public ulong ReadUInt64(long offset) => BitConverter.ToUInt64(Read(offset, 8));

    public long ReadInt64(long offset) => BitConverter.ToInt64(Read(offset, 8));

    public void Write(long offset, byte[] bytes)
    {
        _file.Position = offset;
        _file.Write(bytes);
        _file.Flush();
    }

    public void WriteUInt32(long offset, uint value) => Write(offset, BitConverter.GetBytes(value));

    public void WriteUInt64(long offset, ulong value) => Write(offset, BitConverter.GetBytes(value));

    public void Flip(long offset, int bit) => Write(offset, [(byte)(Read(offset, 1)[0] ^ (1 << bit))]);

    public void Zero(long offset, int count) => Write(offset, new byte[count]);

    public void Truncate(long length) => _file.SetLength(length);
}
