namespace Cairn.Caching.Protobuf.Contracts;

/// <summary>The wire format that a member asks for. The numbers are those of protobuf-net's enumeration of the same name.</summary>
internal enum DataFormat
{
    /// <summary>The usual format of the type.</summary>
    Default = 0,

    /// <summary>sint32 and sint64: small negative numbers take few bytes.</summary>
    ZigZag = 1,

    /// <summary>int32 and int64: negative numbers take ten bytes.</summary>
    TwosComplement = 2,

    /// <summary>fixed32, sfixed32, fixed64 and sfixed64: always four or eight bytes.</summary>
    FixedSize = 3,

    /// <summary>A message between a start tag and an end tag instead of after a length.</summary>
    Group = 4,

    /// <summary>Times as google.protobuf.Timestamp and Duration.</summary>
    WellKnown = 5,
}
