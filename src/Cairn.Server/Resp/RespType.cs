using Cairn.Server.Notifications;

namespace Cairn.Server.Resp;

/// <summary>The type of a key's content, as TYPE names it.</summary>
internal enum RespType
{
    /// <summary>No type that this server knows.</summary>
    None,
    String,
    Hash,
    Set,
    SortedSet,
}

// Sets and sorted sets are stored as hashes: a set's fields have empty values, and those of a sorted set are scores (SortedSetRange). The flags
// of the entry tell them apart. So a server that does not know them treats them as hashes.
internal static class RespTypes
{
    public static RespType Of(in EntryInfo info) =>
        info.Type != EntryType.Hash ? RespType.String
        : info.Flags <= FlagsOf(RespType.SortedSet) ? RespType.Hash + (int)info.Flags
        : RespType.None;

    /// <summary>Returns the flags of the entry of a hash, a set or a sorted set.</summary>
    public static uint FlagsOf(RespType type) => (uint)(type - RespType.Hash);

    public static ReadOnlySpan<byte> NameOf(RespType type) => type switch
    {
        RespType.String => "string"u8,
        RespType.Hash => "hash"u8,
        RespType.Set => "set"u8,
        RespType.SortedSet => "zset"u8,
        _ => "unknown"u8,
    };

    /// <summary>Returns the type with this name, in upper or lower case.</summary>
    public static RespType Parse(ReadOnlySpan<byte> name)
    {
        RespType type = RespType.SortedSet;
        while (type != RespType.None && !Text.EqualsIgnoreCase(name, NameOf(type)))
        {
            type--;
        }

        return type;
    }

    public static EventClasses EventsOf(RespType type) =>
        type switch { RespType.Set => EventClasses.Sets, RespType.SortedSet => EventClasses.SortedSets, _ => EventClasses.Hashes };
}
