using System.Globalization;
using System.Runtime.Serialization;
using System.Text.Json.Serialization;
using System.Xml.Serialization;
using MemoryPack;

namespace Cairn.Benchmarks.Formats;

#pragma warning disable CA1515 // The framework's XmlSerializer reads only public types.

/// <summary>
/// The data that is written in each format: a list of records, similar to a page or a whole catalogue in an application's cache.
/// </summary>
[XmlRoot("Catalogue")]
[DataContract(Name = "Catalogue", Namespace = "")]
[MemoryPackable]
public sealed partial class Catalogue
{
    /// <summary>The records.</summary>
    [XmlElement("Record")]
    [DataMember(Order = 1)]
#pragma warning disable CA1002, CA2227 // Types of applications have this shape.
    public List<CatalogueRecord> Records { get; set; } = [];
#pragma warning restore CA1002, CA2227

    /// <summary>Creates records that differ from each other.</summary>
    /// <param name="count">The number of records.</param>
    public static Catalogue Make(int count)
    {
        var random = new Random(count);
        Span<byte> id = stackalloc byte[16];
        var catalogue = new Catalogue();
        for (int i = 0; i < count; i++)
        {
            random.NextBytes(id);
            catalogue.Records.Add(new CatalogueRecord
            {
                PropertyA = string.Create(CultureInfo.InvariantCulture, $"The Title No. {i}"),
                PropertyB = string.Create(CultureInfo.InvariantCulture, $"Author {i % 977}"),
                PropertyC = string.Create(CultureInfo.InvariantCulture, $"Publisher {i % 101}"),
                Id = new Guid(id),
            });
        }

        return catalogue;
    }
}

/// <summary>A record.</summary>
[DataContract(Name = "Record", Namespace = "")]
[MemoryPackable]
public sealed partial record CatalogueRecord
{
    /// <summary>Some text.</summary>
    [DataMember(Order = 1)]
    public string PropertyA { get; set; } = "";

    /// <summary>Some text.</summary>
    [DataMember(Order = 2)]
    public string PropertyB { get; set; } = "";

    /// <summary>Some text.</summary>
    [DataMember(Order = 3)]
    public string PropertyC { get; set; } = "";

    /// <summary>An identifier.</summary>
    [DataMember(Order = 4)]
    public Guid Id { get; set; }
}

#pragma warning restore CA1515

/// <summary>The metadata of the records for System.Text.Json, generated at compile time.</summary>
[JsonSerializable(typeof(Catalogue))]
internal sealed partial class CatalogueJson : JsonSerializerContext;
