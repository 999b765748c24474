using System.Collections.Concurrent;
using System.Collections.ObjectModel;
using System.Runtime.Serialization;
using Cairn.Caching.Protobuf.Tests.Wire;
using ProtoBuf;

#pragma warning disable PBN0013, PBN0020, PBN0022 // protobuf-net warns of values that a constructor sets, and of members of base types. The tests show that they are kept.
namespace Cairn.Caching.Protobuf.Tests.Contracts;

internal enum Small : byte
{
    None,
    Some = 200,
}

internal enum Big : long
{
    Lowest = long.MinValue,
    None = 0,
    Highest = long.MaxValue,
}

[ProtoContract]
internal sealed record Scalars
{
    public static Scalars Smallest => new()
    {
        SByte = sbyte.MinValue, Short = short.MinValue, Int = int.MinValue, Long = long.MinValue, Float = float.MinValue, Double = double.NegativeInfinity,
        Decimal = decimal.MinValue, DateTime = DateTime.MinValue, TimeSpan = TimeSpan.MinValue, DateTimeOffset = DateTimeOffset.MinValue,
        Big = Big.Lowest, Text = "", Bytes = "", NullableInt = 0, NullableBool = false, NullableDateTime = DateTime.MinValue, NullableGuid = Guid.Empty,
    };

    public static Scalars Largest => new()
    {
        SByte = sbyte.MaxValue, Byte = byte.MaxValue, Short = short.MaxValue, UShort = ushort.MaxValue, Int = int.MaxValue, UInt = uint.MaxValue,
        Long = long.MaxValue, ULong = ulong.MaxValue, Char = char.MaxValue, Bool = true, Float = float.NaN, Double = double.MaxValue,
        Decimal = decimal.MaxValue, DateTime = DateTime.MaxValue, TimeSpan = TimeSpan.MaxValue, DateTimeOffset = DateTimeOffset.MaxValue,
        DateOnly = DateOnly.MaxValue, TimeOnly = TimeOnly.MaxValue, Guid = new Guid("ffffffff-ffff-ffff-ffff-ffffffffffff"), Small = Small.Some, Big = Big.Highest,
        Text = new string('\uFFFD', 1000), Bytes = "ff", Uri = new Uri("https://example.org/a?b=c#d"), Version = new Version(1, 2, 3, 4),
        NullableInt = int.MaxValue, NullableBool = true, NullableDateTime = DateTime.MaxValue, NullableGuid = Guid.NewGuid(), NullableSmall = Small.None,
    };

    public static Scalars Usual => new()
    {
        SByte = -1, Byte = 1, Short = -300, UShort = 300, Int = -70_000, UInt = 70_000, Long = -5_000_000_000, ULong = 5_000_000_000, Char = 'é', Bool = true,
        Float = -0f, Double = 1e-300, Decimal = 0.000m, DateTime = new DateTime(2026, 11, 22, 12, 30, 15, DateTimeKind.Utc).AddTicks(1),
        TimeSpan = TimeSpan.FromMilliseconds(-1500), DateTimeOffset = new DateTimeOffset(2026, 11, 22, 12, 30, 15, TimeSpan.FromHours(-3.5)),
        DateOnly = new DateOnly(2026, 11, 22), TimeOnly = new TimeOnly(23, 59, 59, 999), Guid = Guid.NewGuid(), Small = Small.Some, Big = (Big)(-12),
        Text = "Düne 🏜", Bytes = "00ff", Uri = new Uri("/relative", UriKind.Relative), NullableInt = -1,
    };

    [ProtoMember(1)] public sbyte SByte { get; set; }

    [ProtoMember(2)] public byte Byte { get; set; }

    [ProtoMember(3)] public short Short { get; set; }

    [ProtoMember(4)] public ushort UShort { get; set; }

    [ProtoMember(5)] public int Int { get; set; }

    [ProtoMember(6)] public uint UInt { get; set; }

    [ProtoMember(7)] public long Long { get; set; }

    [ProtoMember(8)] public ulong ULong { get; set; }

    [ProtoMember(9)] public char Char { get; set; }

    [ProtoMember(10)] public bool Bool { get; set; }

    [ProtoMember(11)] public float Float { get; set; }

    [ProtoMember(12)] public double Double { get; set; }

    [ProtoMember(13)] public decimal Decimal { get; set; }

    [ProtoMember(14)] public DateTime DateTime { get; set; }

    [ProtoMember(15)] public TimeSpan TimeSpan { get; set; }

    [ProtoMember(16)] public DateTimeOffset DateTimeOffset { get; set; }

    [ProtoMember(17)] public DateOnly DateOnly { get; set; }

    [ProtoMember(18)] public TimeOnly TimeOnly { get; set; }

    [ProtoMember(19)] public Guid Guid { get; set; }

    [ProtoMember(20)] public Small Small { get; set; }

    [ProtoMember(21)] public Big Big { get; set; }

    [ProtoMember(22)] public string? Text { get; set; }

    [ProtoMember(23)] public string? Bytes { get; set; }

    [ProtoMember(24)] public Uri? Uri { get; set; }

    [ProtoMember(25)] public Version? Version { get; set; }

    [ProtoMember(26)] public int? NullableInt { get; set; }

    [ProtoMember(27)] public bool? NullableBool { get; set; }

    [ProtoMember(28)] public DateTime? NullableDateTime { get; set; }

    [ProtoMember(29)] public Guid? NullableGuid { get; set; }

    [ProtoMember(30)] public Small? NullableSmall { get; set; }
}

[ProtoContract]
internal sealed class Collections
{
    [ProtoMember(1)] public string[]? Array { get; set; }

    [ProtoMember(2)] public IEnumerable<int>? Enumerable { get; set; }

    [ProtoMember(3)] public ICollection<Guid>? Collection { get; set; }

    [ProtoMember(4)] public IReadOnlyList<decimal>? ReadOnly { get; set; }

    [ProtoMember(5)] public ISet<long>? Set { get; set; }

    [ProtoMember(6)] public ObservableCollection<string>? Observable { get; set; }

    [ProtoMember(7)] public SortedDictionary<string, string>? Sorted { get; set; }

    [ProtoMember(8)] public ConcurrentDictionary<int, Guid>? Concurrent { get; set; }

    [ProtoMember(9)] public List<byte[]>? Blobs { get; set; }

    [ProtoMember(10)] public List<int> WithoutSetter { get; } = [];

    [ProtoMember(11)] public IList<DateTime>? Times { get; set; }
}

[DataContract]
internal record struct Point
{
    [DataMember(Order = 1)] public int X { get; set; }

    [DataMember(Order = 2)] public int Y { get; set; }
}

[DataContract]
internal sealed class Place
{
    [DataMember(Order = 1)] public Point Here { get; set; }

    [DataMember(Order = 2)] public Point? There { get; set; }
}

[DataContract]
internal sealed class Hidden(int a, int b, int c)
{
    [DataMember(Order = 1)] private readonly int _a = a;

    [DataMember(Order = 2)] private int B { get; set; } = b;

    [DataMember(Order = 3)] private int C { get; } = c;

    public (int A, int B, int C) Values => (_a, B, C);
}

[ProtoContract]
internal sealed class Constructed
{
    public string? Note { get; } = "made";

    [ProtoMember(1)] public int Number { get; set; }
}

[ProtoContract(SkipConstructor = true)]
internal sealed class NotConstructed
{
    public string? Note { get; } = "made";

    [ProtoMember(1)] public int Number { get; set; }
}

[ProtoContract]
internal sealed class Preset
{
    [ProtoMember(1)] public int Count { get; set; } = 5;
}

[ProtoContract]
internal sealed class PresetNullable
{
    [ProtoMember(1)] public int? Count { get; set; } = 5;
}

[DataContract]
internal class Base
{
    [DataMember(Order = 1)] public int Inherited { get; set; }
}

[DataContract]
internal sealed class Derived : Base
{
    [DataMember(Order = 2)] public int Own { get; set; }
}

[ProtoContract(ImplicitFields = ImplicitFields.AllPublic)]
internal sealed class Implied
{
    public int B { get; set; }

    public int A { get; set; }

    [ProtoIgnore] public int Ignored { get; set; }
}

[ProtoContract]
[ProtoPartialMember(1, nameof(Count))]
internal sealed class Partial
{
    public int Count { get; set; }
}

[ProtoContract]
internal sealed class Grouped
{
    [ProtoMember(1, DataFormat = DataFormat.Group)] public Author? One { get; set; }

    [ProtoMember(2, DataFormat = DataFormat.Group)] public List<Author>? Many { get; set; }
}

[ProtoContract]
[CompatibilityLevel(CompatibilityLevel.Level300)]
internal sealed class Modern
{
    [ProtoMember(1)] public DateTime When { get; set; }

    [ProtoMember(2)] public TimeSpan Took { get; set; }

    [ProtoMember(3)] public Guid Id { get; set; }

    [ProtoMember(4)] public decimal Price { get; set; }
}

[ProtoContract]
internal sealed class Usual
{
    [ProtoMember(1)] public DateTime Day { get; set; }

    [ProtoMember(2)] public TimeSpan Hours { get; set; }
}

[ProtoContract]
internal sealed class Called
{
    public List<string> Calls { get; } = [];

    [ProtoMember(1)] public int Number { get; set; }

    [OnSerializing] private void Writing(StreamingContext context) => Calls.Add("writing");

    [OnSerialized] private void Written(StreamingContext context) => Calls.Add("written");

    [OnDeserializing] private void Reading(StreamingContext context) => Calls.Add("reading");

    [ProtoAfterDeserialization] private void Read() => Calls.Add("read");
}

[ProtoContract]
internal sealed class Node
{
    [ProtoMember(1)] public Node? Next { get; set; }

    [ProtoMember(2)] public int Value { get; set; }
}

[ProtoContract]
internal sealed class OfObjects
{
    [ProtoMember(1)] public object? A { get; set; }
}

[ProtoContract]
internal sealed class ListOfLists
{
    [ProtoMember(1)] public List<List<int>>? A { get; set; }
}

[ProtoContract]
[ProtoInclude(10, typeof(Included))]
internal class Including
{
    [ProtoMember(1)] public int A { get; set; }
}

[ProtoContract]
internal sealed class Included : Including
{
    [ProtoMember(1)] public int B { get; set; }
}

[ProtoContract]
internal class PrivateBase
{
    [ProtoMember(1)] private int A { get; set; }

    public int Sum => A;
}

[ProtoContract]
internal sealed class PrivateInherited : PrivateBase
{
    [ProtoMember(2)] public int B { get; set; }
}

[ProtoContract]
internal sealed class PresetArray
{
    [ProtoMember(1)] public int[] Numbers { get; set; } = [1, 2];
}

[ProtoContract]
internal sealed class OfUnmarked
{
    [ProtoMember(1)] public Unmarked? A { get; set; }
}

internal sealed class Unmarked
{
    public int A { get; set; }
}

// A member of a type that protoc generated.
[ProtoContract]
internal sealed class HasMessage
{
    [ProtoMember(1)] public int Id { get; set; }

    [ProtoMember(2)] public AuthorMessage? Inner { get; set; }

    [ProtoMember(3)] public List<AuthorMessage>? All { get; set; }
}

[DataContract]
internal sealed class WithoutNumbers
{
    [DataMember] public int A { get; set; }
}
