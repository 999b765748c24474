using System.Runtime.Serialization;
using ProtoBuf;

namespace Cairn.Caching.Protobuf.Tests.Wire;

// The types of library.proto in an application: annotated for protobuf-net, or as data contracts.
internal enum BookColour
{
    None = 0,
    Red = 1,
    Blue = 7,
}

[DataContract]
internal sealed class Author
{
    [DataMember(Order = 1)]
    public string? Name { get; set; }

    [DataMember(Order = 2)]
    public int? Born { get; set; }
}

[ProtoContract]
internal sealed class Book
{
    [ProtoMember(1)]
    public int Id { get; set; }

    [ProtoMember(2)]
    public string? Title { get; set; }

    [ProtoMember(3)]
    public long Sold { get; set; }

    [ProtoMember(4)]
    public uint Pages { get; set; }

    [ProtoMember(5)]
    public ulong Serial { get; set; }

    [ProtoMember(6, DataFormat = DataFormat.ZigZag)]
    public int Shelf { get; set; }

    [ProtoMember(7, DataFormat = DataFormat.ZigZag)]
    public long Offset { get; set; }

    [ProtoMember(8, DataFormat = DataFormat.FixedSize)]
    public uint Crc { get; set; }

    [ProtoMember(9, DataFormat = DataFormat.FixedSize)]
    public ulong Stamp { get; set; }

    [ProtoMember(10, DataFormat = DataFormat.FixedSize)]
    public int Low { get; set; }

    [ProtoMember(11, DataFormat = DataFormat.FixedSize)]
    public long High { get; set; }

    [ProtoMember(12)]
    public bool Available { get; set; }

    [ProtoMember(13)]
    public float Weight { get; set; }

    [ProtoMember(14)]
    public double Price { get; set; }

    [ProtoMember(15)]
    public byte[]? Cover { get; set; }

    [ProtoMember(16)]
    public BookColour Colour { get; set; }

    [ProtoMember(17)]
    public Author? Author { get; set; }

    [ProtoMember(18, IsPacked = true)]
    public List<int>? Ratings { get; set; }

    [ProtoMember(19)]
    public string[]? Tags { get; set; }

    [ProtoMember(20)]
    public IReadOnlyList<Author>? Translators { get; set; }

    [ProtoMember(21)]
    public Dictionary<string, int>? Stock { get; set; }

    [ProtoMember(22)]
    public IReadOnlyDictionary<int, Author>? Editors { get; set; }

    [ProtoMember(23)]
    public Guid Key { get; set; }

    [ProtoMember(24, IsPacked = true)]
    public HashSet<BookColour>? Colours { get; set; }

    [ProtoMember(2000, IsPacked = true)]
    public double[]? Prices { get; set; }

    [ProtoMember(536870911, DataFormat = DataFormat.ZigZag)]
    public int? Edition { get; set; }
}

[DataContract]
internal sealed record CatalogueRecord(
    [property: DataMember(Order = 1)] string PropertyA,
    [property: DataMember(Order = 2)] string PropertyB,
    [property: DataMember(Order = 3)] string PropertyC,
    [property: DataMember(Order = 4)] Guid Id);
