using Cairn.Platform;
using Cairn.WriteAhead;

namespace Cairn.Tests.WriteAhead;

/// <summary>Reading a log of arbitrary bytes ends. It returns the whole records, or fails with an error that names the file.</summary>
public sealed class LogFuzzTests : LoggedStoreTest
{
    private const int Rounds = 300;

    [Fact]
    public void Reader_of_random_bytes_ends_and_finds_no_record()
    {
        var random = new Random(1);
        for (int round = 0; round < Rounds; round++)
        {
            var bytes = new byte[LogFileHeader.PageBytes + random.Next(20_000)];
            random.NextBytes(bytes);
            LogFileHeader.Write(bytes, LogFileKind.Log, 7, (ulong)random.NextInt64(), 1, LogPath.FirstPosition, 0, []);
            using LogReader reader = ReaderOf(bytes);

            Assert.False(reader.TryRead(out _));
            Assert.False(reader.TrySkip(out _));
            Assert.Equal(LogPath.FirstPosition, reader.Position);
        }
    }

    [Fact]
    public void Random_first_page_is_no_header()
    {
        var random = new Random(2);
        var page = new byte[LogFileHeader.PageBytes];
        for (int round = 0; round < Rounds; round++)
        {
            random.NextBytes(page);
            BitConverter.TryWriteBytes(page, LogFileHeader.ExpectedMagic);

            Assert.False(LogFileHeader.TryRead(page, out _));
        }
    }

    [Fact]
    public void Log_with_random_damage_is_refused_or_read_and_what_is_salvaged_was_written()
    {
        using (CairnStore store = Open(Small))
        {
            CairnCollection books = store.Collection("books", Logged);
            for (int i = 0; i < 60; i++)
            {
                books.Set($"{i}", TestBytes.Of(i * 20, i));
            }
        }

        string path = FilePath + ".log-0000000001";
        byte[] whole = File.ReadAllBytes(path);
        var written = new HashSet<long>();
        Visit(whole, (in LogRecord record) => written.Add(record.Position), onDamage: null);
        var random = new Random(3);
        int refused = 0;
        for (int round = 0; round < Rounds; round++)
        {
            byte[] bytes = Spoiled(whole, random);
            try
            {
                Visit(bytes, (in LogRecord record) => Assert.Contains(record.Position, written), onDamage: null);
            }
            catch (StoreCorruptException damage)
            {
                refused++;
                Assert.Equal(path, damage.File);
            }

            Visit(bytes, (in LogRecord record) => Assert.Contains(record.Position, written), _ => { });
        }

        Assert.InRange(refused, Rounds / 2, Rounds);
    }

    private static byte[] Spoiled(byte[] whole, Random random)
    {
        byte[] bytes = whole[..(random.Next(4) == 0 ? random.Next(LogFileHeader.PageBytes, whole.Length) : whole.Length)];
        for (int i = random.Next(4); i >= 0; i--)
        {
            int at = random.Next(LogFileHeader.PageBytes, whole.Length - 8);
            Span<byte> place = bytes.AsSpan(Math.Min(at, bytes.Length));
            place = place[..Math.Min(place.Length, random.Next(3) switch { 0 => 1, 1 => 8, _ => random.Next(5000) })];
            if (random.Next(2) == 0)
            {
                place.Clear();
            }
            else
            {
                random.NextBytes(place);
            }
        }

        return bytes;
    }

    private void Visit(byte[] bytes, LogRecordVisitor visitor, Action<StoreCorruptException>? onDamage)
    {
        File.WriteAllBytes(FilePath + ".log-0000000001", bytes);
        LogFileSet files = LogFileSet.Find(HostPlatform.Current, FilePath, onDamage);
        LogWalk.Read(HostPlatform.Current, files, files.Start, long.MaxValue, default, visitor, onDamage);
    }

    private LogReader ReaderOf(byte[] bytes)
    {
        File.WriteAllBytes(PathOf("random"), bytes);
        return LogReader.TryOpen(HostPlatform.Current.OpenReadOnly(PathOf("random")), ownsFile: true)!;
    }
}
