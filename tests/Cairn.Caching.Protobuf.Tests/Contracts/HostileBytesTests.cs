using System.Buffers;
using System.Diagnostics;
using Cairn.Caching.Protobuf.Tests.Wire;
using Google.Protobuf;

namespace Cairn.Caching.Protobuf.Tests.Contracts;

/// <summary>Arbitrary bytes cause only the documented exceptions, and take only memory in proportion to their number.</summary>
public sealed class HostileBytesTests
{
    // Two bytes, an item of a list, can represent an object of some hundred bytes.
    private const long MostBytesForAByte = 400;

    // Objects that are created once for a type, or once for each kind of exception, do not count.
    static HostileBytesTests()
    {
        var random = new Random(0);
        for (int i = 0; i < 500; i++)
        {
            byte[] bytes = WireTests.RandomBook(random).ToByteArray();
            Read(bytes);
            random.NextBytes(bytes);
            Read(bytes);
        }
    }

    public static TheoryData<int> Seeds => [.. Enumerable.Range(1, 40)];

    [Fact]
    public void Message_that_is_cut_off_anywhere_is_refused_or_a_shorter_message()
    {
        byte[] bytes = WireTests.RandomBook(new Random(9)).ToByteArray();

        for (int length = 0; length < bytes.Length; length++)
        {
            TryRead(bytes[..length]);
        }
    }

    [Theory]
    [MemberData(nameof(Seeds))]
    public void Damaged_messages_are_refused_or_read_as_something_else(int seed)
    {
        var random = new Random(seed);
        byte[] bytes = WireTests.RandomBook(random).ToByteArray();
        for (int i = 0; i < 2_000; i++)
        {
            byte[] damaged = [.. bytes];
            for (int changes = random.Next(1, 6); changes > 0 && damaged.Length > 0; changes--)
            {
                damaged[random.Next(damaged.Length)] = (byte)random.Next(256);
            }

            TryRead(damaged);
        }
    }

    [Theory]
    [MemberData(nameof(Seeds))]
    public void Random_bytes_are_refused_or_read_as_something(int seed)
    {
        var random = new Random(seed);
        for (int i = 0; i < 2_000; i++)
        {
            byte[] bytes = new byte[random.Next(200)];
            random.NextBytes(bytes);
            TryRead(bytes);
        }
    }

    [Fact]
    public void Nesting_beyond_the_limit_is_refused()
    {
        byte[] bytes = [];
        for (int i = 0; i < 5_000; i++)
        {
            var length = new ArrayBufferWriter<byte>();
            for (int rest = bytes.Length; ; rest >>= 7)
            {
                length.Write([(byte)(rest > 0x7F ? (rest & 0x7F) | 0x80 : rest)]);
                if (rest <= 0x7F)
                {
                    break;
                }
            }

            bytes = [0x0A, .. length.WrittenSpan, .. bytes];
        }

        Assert.Throws<InvalidDataException>(() => Wired.Read<Node>(new ReadOnlySequence<byte>(bytes)));
    }

    [Fact]
    public void Announced_lengths_are_not_believed()
    {
        // Field 15, bytes. Field 18, packed numbers. Field 2000, packed doubles. Each announces 2 GB and has no content.
        foreach (byte[] tag in new byte[][] { [0x7A], [0x92, 0x01], [0x82, 0x7D] })
        {
            byte[] bytes = [.. tag, 0xFF, 0xFF, 0xFF, 0xFF, 0x07, 1, 2, 3];

            long before = GC.GetAllocatedBytesForCurrentThread();
            Assert.Throws<InvalidDataException>(() => Wired.Read<Book>(new ReadOnlySequence<byte>(bytes)));

            Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, 100_000);
        }
    }

    [Fact]
    public void Items_of_two_lists_by_turns_cost_no_more_than_one_after_the_other()
    {
        // Tags are an array, translators a list. The time would be quadratic if each item created a longer array: the last one replaces the others.
        byte[] bytes = [.. Enumerable.Range(0, 100_000).SelectMany(_ => new byte[] { 0x9A, 0x01, 0, 0xA2, 0x01, 0 })];

        long before = GC.GetAllocatedBytesForCurrentThread();
        Book read = Wired.Read<Book>(new ReadOnlySequence<byte>(bytes));

        Assert.Equal((1, 100_000), (read.Tags!.Length, read.Translators!.Count));
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, 32_000_000);
    }

    [Fact]
    public void Message_that_repeats_a_member_with_an_array_takes_time_in_proportion_to_its_length()
    {
        // A crate with one label, many times. The time would be quadratic if each one copied the labels before it.
        byte[] once = [0x0A, 2, 0x0A, 0];
        byte[] often = [.. Enumerable.Repeat(once, 50_000).SelectMany(each => each)];

        long before = GC.GetAllocatedBytesForCurrentThread();
        Shelf shelf = Wired.Read<Shelf>(often);

        Assert.Single(shelf.Crate!.Labels!);
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, often.Length * MostBytesForAByte);
    }

    [Fact]
    public void Map_of_messages_of_12_MB_is_read_as_fast_as_a_list_of_them()
    {
        byte[] map = Wired.Write(Enumerable.Range(0, 250_000).ToDictionary(i => $"author:{i}", i => new Author { Name = $"a name of ordinary length {i}", Born = 1900 }));
        Wired.Read<Dictionary<string, Author>>(map);

        long before = Stopwatch.GetTimestamp();
        Dictionary<string, Author> read = Wired.Read<Dictionary<string, Author>>(map);

        Assert.InRange(map.Length, 11_000_000, 14_000_000);
        Assert.Equal(250_000, read.Count);
        Assert.InRange(Stopwatch.GetElapsedTime(before), TimeSpan.Zero, TimeSpan.FromSeconds(60)); // If each entry moved the others, it would take longer.
    }

    private static void TryRead(byte[] bytes)
    {
        long before = GC.GetAllocatedBytesForCurrentThread();
        Read(bytes);

        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, 100_000 + (bytes.Length * MostBytesForAByte));
    }

    private static void Read(byte[] bytes)
    {
        try
        {
            Wired.Read<Book>(new ReadOnlySequence<byte>(bytes));
        }
        catch (InvalidDataException failure)
        {
            Debug.Assert(failure.Message.Length > 0);
        }
    }

    [System.Runtime.Serialization.DataContract]
    internal sealed class Shelf
    {
        [System.Runtime.Serialization.DataMember(Order = 1)]
        public Crate? Crate { get; set; }
    }

    [System.Runtime.Serialization.DataContract]
    internal sealed class Crate
    {
        [System.Runtime.Serialization.DataMember(Order = 1)]
        public string[]? Labels { get; set; }
    }
}
