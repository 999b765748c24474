namespace Cairn.Caching.Protobuf.Contracts;

/// <summary>How a member asks to be written. The numbers are those of protobuf-net's enumeration of the same name.</summary>
internal enum DataFormat
{
    /// <summary>As its type usually is.</summary>
    Default = 0,

    /// <summary>Small negative numbers in few bytes: sint32, sint64.</summary>
    ZigZag = 1,

    /// <summary>Negative numbers in ten bytes: int32, int64.</summary>
    TwosComplement = 2,

    /// <summary>Always four or eight bytes: fixed32, sfixed32, fixed64, sfixed64.</summary>
    FixedSize = 3,

    /// <summary>Between two tags instead of behind a length.</summary>
    Group = 4,

    /// <summary>Times as google.protobuf.Timestamp and Duration.</summary>
    WellKnown = 5,
}
