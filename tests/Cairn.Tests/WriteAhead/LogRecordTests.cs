using System.Runtime.InteropServices;
using Cairn.Platform;
using Cairn.WriteAhead;

namespace Cairn.Tests.WriteAhead;

public sealed class LogRecordTests : IDisposable
{
    private const ulong Salt = 0x1234_5678_9ABC_DEF1;
    private readonly TestDirectory _directory = new();

    public void Dispose() => _directory.Dispose();

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(7)]
    [InlineData(8)]
    [InlineData(9)]
    [InlineData(1000)]
    public void Record_is_read_as_it_was_written(int bodyBytes)
    {
        byte[] body = BodyOf(bodyBytes);
        var bytes = new byte[LogRecord.SizeOf(bodyBytes)];

        int written = LogRecord.Write(bytes, Salt, 4096, LogKind.Put, 5, 77, body);

        Assert.Equal(bytes.Length, written);
        Assert.True(LogRecord.TryRead(bytes, Salt, 4096, out LogRecord record));
        Assert.Equal(LogKind.Put, record.Kind);
        Assert.Equal(5u, record.Collection);
        Assert.Equal(77, record.Place);
        Assert.Equal(4096, record.Position);
        Assert.Equal(4096 + written, record.End);
        Assert.True(record.Body.SequenceEqual(body));
    }

    [Theory]
    [InlineData(0)]
    [InlineData(13)]
    [InlineData(300)]
    public void Record_with_any_one_bit_changed_is_no_record(int bodyBytes)
    {
        var bytes = new byte[LogRecord.SizeOf(bodyBytes)];
        LogRecord.Write(bytes, Salt, 4096, LogKind.Put, 5, 77, BodyOf(bodyBytes));

        for (int at = 0; at < LogRecord.HeaderBytes + bodyBytes; at++)
        {
            for (int bit = 0; bit < 8; bit++)
            {
                bytes[at] ^= (byte)(1 << bit);
                Assert.False(LogRecord.TryRead(bytes, Salt, 4096, out _), $"byte {at}, bit {bit}");
                bytes[at] ^= (byte)(1 << bit);
            }
        }

        Assert.True(LogRecord.TryRead(bytes, Salt, 4096, out _));
    }

    [Fact]
    public void Record_that_is_cut_anywhere_is_no_record()
    {
        var bytes = new byte[LogRecord.SizeOf(50)];
        LogRecord.Write(bytes, Salt, 4096, LogKind.Remove, 1, 0, BodyOf(50));

        for (int length = 0; length < bytes.Length; length++)
        {
            Assert.False(LogRecord.TryRead(bytes.AsSpan(0, length), Salt, 4096, out _), $"cut at {length}");
        }
    }

    [Fact]
    public void Record_of_another_file_or_another_place_is_no_record()
    {
        var bytes = new byte[LogRecord.SizeOf(50)];
        LogRecord.Write(bytes, Salt, 4096, LogKind.Remove, 1, 0, BodyOf(50));

        Assert.False(LogRecord.TryRead(bytes, Salt + 1, 4096, out _));
        Assert.False(LogRecord.TryRead(bytes, Salt, 4104, out _));
    }

    [Fact]
    public void Operations_of_a_transaction_are_read_in_order()
    {
        var body = new byte[LogRecord.SizeOf(10) + LogRecord.SizeOf(3)];
        int at = LogRecord.Write(body, 0, 0, LogKind.Put, 2, 99, BodyOf(10));
        LogRecord.Write(body.AsSpan(at), 0, at, LogKind.Remove, 3, 0, BodyOf(3));
        var bytes = new byte[LogRecord.SizeOf(body.Length)];
        LogRecord.Write(bytes, Salt, 8192, LogKind.Transaction, 0, 0, body);

        Assert.True(LogRecord.TryRead(bytes, Salt, 8192, out LogRecord record));
        var read = new List<(LogKind Kind, uint Collection, long Place, int Length, long Position)>();
        foreach (LogRecord operation in record)
        {
            read.Add((operation.Kind, operation.Collection, operation.Place, operation.Body.Length, operation.Position));
        }

        Assert.Equal([(LogKind.Put, 2u, 99L, 10, 8192L), (LogKind.Remove, 3u, 0L, 3, 8192L)], read);
    }

    [Fact]
    public void Header_with_any_byte_changed_is_no_header()
    {
        var page = new byte[LogFileHeader.PageBytes];
        LogFileHeader.Write(page, LogFileKind.Log, 11, Salt, 3, 8192, 12345, [1, 2, 3], fileBytes: 65536);

        Assert.True(LogFileHeader.TryRead(page, out LogFileHeader header));
        Assert.Equal((LogFileKind.Log, 11ul, Salt, 3L, 8192L, 12345L, 65536L),
            (header.Kind, header.LogId, header.Salt, header.Sequence, header.StartPosition, header.CreatedUnixMs, header.FileBytes));
        for (int at = 0; at < LogFileHeader.ClosedSealOffset; at++)
        {
            page[at] ^= 0x10;
            Assert.False(LogFileHeader.TryRead(page, out _), $"byte {at}");
            page[at] ^= 0x10;
        }

        Assert.False(LogFileHeader.TryRead(page.AsSpan(0, page.Length - 1), out _));
    }

    [Fact]
    public void Seal_with_any_bit_changed_says_nothing()
    {
        var page = new byte[LogFileHeader.PageBytes];
        LogFileHeader.Write(page, LogFileKind.Log, 11, Salt, 3, 8192, 12345, []);
        LogSeal closed = LogSeal.Of(durable: 9000, next: 0, Salt);
        LogSeal continued = LogSeal.Of(durable: 10_000, next: 4, Salt);
        MemoryMarshal.Write(page.AsSpan(LogFileHeader.ClosedSealOffset), in closed);
        MemoryMarshal.Write(page.AsSpan(LogFileHeader.ContinuedSealOffset), in continued);

        Assert.True(LogFileHeader.TryRead(page, out LogFileHeader header));
        Assert.Equal((10_000, 4), (header.SealedDurable, header.SealedNext));
        for (int bit = 0; bit < 24 * 8; bit++)
        {
            int at = LogFileHeader.ContinuedSealOffset + (bit / 8);
            page[at] ^= (byte)(1 << (bit % 8));
            Assert.True(LogFileHeader.TryRead(page, out header));
            Assert.Equal((9000, 0), (header.SealedDurable, header.SealedNext));
            page[at] ^= (byte)(1 << (bit % 8));
        }
    }

    [Fact]
    public void Mark_with_any_bit_changed_says_nothing()
    {
        foreach (long number in (long[])[1, 2, 4096, 123_456_789, (1L << 48) - 1])
        {
            ulong mark = LogMark.Of(number);
            Assert.Equal(number, LogMark.NumberOf(mark));
            for (int bit = 0; bit < 64; bit++)
            {
                Assert.Equal(0, LogMark.NumberOf(mark ^ (1UL << bit)));
            }
        }

        Assert.Equal(0ul, LogMark.Of(0));
        Assert.Equal(0ul, LogMark.Of(1L << 48));
        Assert.Equal(0, LogMark.NumberOf(0));
    }

    [Theory]
    [InlineData(4096, 4096)]
    [InlineData(1L << 40, 4096)]
    [InlineData(8192, 0)]
    [InlineData(8192, 4104)]
    public void Record_says_how_far_the_log_was_durable_unless_that_is_too_far_away(long position, long durable)
    {
        var bytes = new byte[LogRecord.SizeOf(5)];
        LogRecord.Write(bytes, Salt, position, LogKind.Clear, 5, 0, BodyOf(5), durable);

        Assert.True(LogRecord.TryRead(bytes, Salt, position, out LogRecord record));
        Assert.Equal(position - durable < 100_000 ? durable : 0, record.Durable);
        Assert.Equal(LogKind.Clear, record.Kind);
    }

    [Fact]
    public void Reader_walks_all_records_and_stops_at_the_first_that_is_damaged()
    {
        // Longer than the reader's buffer, and one record is longer than the buffer too.
        int[] lengths = [.. Enumerable.Range(0, 3000).Select(i => i == 1500 ? 3 << 20 : i % 997)];
        using StoreFile file = Write(lengths, out List<long> positions);
        using LogReader reader = LogReader.TryOpen(file, ownsFile: false)!;

        for (int i = 0; i < lengths.Length; i++)
        {
            Assert.True(reader.TryRead(out LogRecord record));
            Assert.Equal((positions[i], lengths[i]), (record.Position, record.Body.Length));
        }

        Assert.False(reader.TryRead(out _));
        Assert.Equal(positions[^1], reader.Position);

        const int Damaged = 2000;
        file.Write(LogReader.OffsetOf(reader.Header, positions[Damaged]) + LogRecord.HeaderBytes, [0xFF, 0xFE]);
        using LogReader again = LogReader.TryOpen(file, ownsFile: false)!;
        int whole = 0;
        while (again.TryRead(out _))
        {
            whole++;
        }

        Assert.Equal(Damaged, whole);
        Assert.Equal(positions[Damaged], again.Position);

        again.Seek(positions[Damaged + 1]);
        Assert.True(again.TryRead(out LogRecord behind));
        Assert.Equal(lengths[Damaged + 1], behind.Body.Length);
    }

    [Fact]
    public void File_without_a_header_has_no_reader()
    {
        using StoreFile file = HostPlatform.Current.TryCreate(_directory["empty"])!;

        Assert.Null(LogReader.TryOpen(file, ownsFile: false));
    }

    [Theory]
    [InlineData("a.cairn.log-0000000001", 1)]
    [InlineData("a.cairn.log-0123456789", 123456789)]
    [InlineData("a.cairn.log-12345678901", 12345678901)]
    [InlineData("a.cairn.log-1", 0)]
    [InlineData("a.cairn.log-00000000001", 0)]
    [InlineData("a.cairn.log-0000000000", 0)]
    [InlineData("a.cairn.log-000000000x", 0)]
    [InlineData("b.cairn.log-0000000001", 0)]
    [InlineData("a.cairn.log-", 0)]
    public void Name_of_a_log_file_contains_its_number(string name, long expected)
    {
        Assert.Equal(expected != 0, LogPath.TryParse("/data/a.cairn", "/data/" + name, out long sequence));
        Assert.Equal(expected, sequence);
    }

    private static byte[] BodyOf(int length)
    {
        var body = new byte[length];
        new Random(length).NextBytes(body);
        return body;
    }

    // The last position is the end of the records.
    private StoreFile Write(int[] lengths, out List<long> positions)
    {
        StoreFile file = HostPlatform.Current.TryCreate(_directory["records"])!;
        var page = new byte[LogFileHeader.PageBytes];
        LogFileHeader.Write(page, LogFileKind.Log, 1, Salt, 1, LogPath.FirstPosition, 0, []);
        file.Write(0, page);
        long position = LogPath.FirstPosition;
        positions = [position];
        foreach (int length in lengths)
        {
            var bytes = new byte[LogRecord.SizeOf(length)];
            LogRecord.Write(bytes, Salt, position, LogKind.Put, 1, 0, BodyOf(length));
            file.Write(LogFileHeader.PageBytes + position - LogPath.FirstPosition, bytes);
            position += bytes.Length;
            positions.Add(position);
        }

        return file;
    }
}
