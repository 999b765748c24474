using System.Collections.Concurrent;
using System.Reflection;
using Cairn.Caching.Protobuf.Tests.Contracts;
using Cairn.Caching.Protobuf.Tests.Wire;

namespace Cairn.Caching.Protobuf.Tests.Recorded;

/// <summary>Entries that this package wrote when it had its own implementation of contracts are read, and written with the same bytes.</summary>
/// <remarks>Each line of entries.txt is the name of a value below and its bytes, recorded at commit c8309fd.</remarks>
public sealed class RecordedBytesTests
{
    private static readonly Guid One = new("00112233-4455-6677-8899-aabbccddeeff");

    private static readonly Dictionary<string, byte[]> Recorded = ReadEntries();

    // protobuf-net also writes the first moment of time, and it writes no zero with a sign or with decimal places. It does not
    // pack a single number.
    private static readonly string[] WrittenDifferently = ["Scalars.Default", "Scalars.Smallest", "Scalars.Usual", "Collections"];

    private static readonly Dictionary<string, Func<byte[], (byte[] Original, byte[] Read)>> Values = new(StringComparer.Ordinal)
    {
        ["Scalars.Default"] = Both(new Scalars()),
        ["Scalars.Smallest"] = Both(Scalars.Smallest),
        ["Scalars.Largest"] = Both(Scalars.Largest with { NullableGuid = One, Text = "\uFFFD" }),
        ["Scalars.Usual"] = Both(Scalars.Usual with { Guid = One }),
        ["Collections"] = Both(FullCollections()),
        ["CatalogueRecord"] = Both(new CatalogueRecord("a", "", "c", One)),
        ["Place"] = Both(new Place { Here = new Point { X = 1, Y = -2 }, There = new Point() }),
        ["Place.Empty"] = Both(new Place()),
        ["Hidden"] = Both(new Hidden(1, 2, 3)),
        ["Preset.0"] = Both(new Preset { Count = 0 }),
        ["Preset.5"] = Both(new Preset()),
        ["Derived"] = Both(new Derived { Own = 1, Inherited = 2 }),
        ["Implied"] = Both(new Implied { B = 2, A = 1, Ignored = 9 }),
        ["Partial"] = Both(new Partial { Count = 3 }),
        ["Grouped"] = Both(new Grouped { One = new Author { Born = 7 }, Many = [new Author { Name = "x" }, new Author()] }),
        ["Modern"] = Both(new Modern { When = new DateTime(2026, 11, 22, 1, 2, 3, 456, DateTimeKind.Utc), Took = TimeSpan.FromSeconds(-1.5), Id = One, Price = 12.50m }),
        ["Usual"] = Both(new Usual { Day = new DateTime(1970, 1, 3), Hours = TimeSpan.FromHours(-2) }),
        ["Authors"] = Both(new Author[] { new() { Name = "x" }, new() { Born = 3 } }),
        ["Authors.Empty"] = Both(Array.Empty<Author>()),
        ["AuthorMap"] = Both(new Dictionary<string, Author>(StringComparer.Ordinal) { ["k"] = new Author { Born = 3 }, [""] = new Author() }),
        ["RecordList"] = Both(new List<CatalogueRecord> { new("a", "b", "c", One), new("d", "", null!, Guid.Empty) }),
        ["Messages"] = Both(new List<BookMessage> { new() { Id = 7, Title = "t", Author = new AuthorMessage { Name = "n" } }, new() }),
        ["Message"] = Both(new BookMessage { Id = 7, Title = "t", Author = new AuthorMessage { Name = "n" } }),
        ["HasMessage"] = Both(new HasMessage { Id = 3, Inner = new AuthorMessage { Name = "n" }, All = [new AuthorMessage { Born = 4 }, new AuthorMessage()] }),
        ["Node"] = Both(new Node { Value = 1, Next = new Node { Value = 2 } }),
    };

    public static TheoryData<string> Names => [.. Values.Keys];

    [Theory]
    [MemberData(nameof(Names))]
    public void Entry_is_written_with_the_recorded_bytes(string name)
    {
        byte[] recorded = Recorded[name];

        (byte[] original, _) = Values[name](recorded);

        Assert.Equal(WrittenDifferently.Contains(name), Convert.ToHexString(recorded) != Convert.ToHexString(original));
    }

    [Theory]
    [MemberData(nameof(Names))]
    public void Recorded_entry_is_read_as_the_value_that_was_written(string name)
    {
        (byte[] original, byte[] read) = Values[name](Recorded[name]);

        Assert.Equal(Convert.ToHexString(original), Convert.ToHexString(read));
    }

    // The value and what is read from the recorded bytes have all content in common if both are written with the same bytes.
    private static Func<byte[], (byte[] Original, byte[] Read)> Both<T>(T value) => recorded => (Wired.Write(value), Wired.Write(Wired.Read<T>(recorded)));

    private static Contracts.Collections FullCollections()
    {
        var value = new Contracts.Collections
        {
            Array = ["a", "b"],
            Enumerable = [1, 2, 3],
            Collection = [One, Guid.Empty],
            ReadOnly = [1.5m, -2.25m],
            Set = new HashSet<long> { 5, -5 },
            Observable = ["x"],
            Sorted = new SortedDictionary<string, string>(StringComparer.Ordinal) { ["k"] = "v", ["l"] = "" },
            Concurrent = new ConcurrentDictionary<int, Guid>([new(1, One)]),
            Blobs = [[1, 2], [], [3]],
            Times = [DateTime.UnixEpoch, DateTime.MinValue, DateTime.MaxValue],
        };
        value.WithoutSetter.Add(7);
        return value;
    }

    private static Dictionary<string, byte[]> ReadEntries()
    {
        using var reader = new StreamReader(Assembly.GetExecutingAssembly().GetManifestResourceStream("entries.txt")!);
        return reader.ReadToEnd().Split('\n', StringSplitOptions.RemoveEmptyEntries).Select(static line => line.Split(' '))
            .ToDictionary(static parts => parts[0], static parts => Convert.FromHexString(parts[1]), StringComparer.Ordinal);
    }
}
