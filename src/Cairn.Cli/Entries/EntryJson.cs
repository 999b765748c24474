using System.Text.Json;
using System.Text.Unicode;

namespace Cairn.Cli.Entries;

// The JSON form of an entry, everywhere in the tool:
//
//   key            text, if the key is UTF-8; otherwise keyBase64
//   value          text, if the value is UTF-8; otherwise valueBase64
//   valueBytes     length of the value
//   version        of the entry, as text: many JSON readers cannot hold a 64-bit number
//   flags          unless 0
//   expires        the present time of expiration; only if the entry expires
//   slidingMs      the interval of a sliding expiration
//   slidingLimit   the time beyond which reads do not extend the expiration
//   collection     unless it is the default collection
//
// EntryLine reads the same form.
internal static class EntryJson
{
    public static void WriteCollection(Utf8JsonWriter writer, string collection)
    {
        if (collection.Length > 0)
        {
            writer.WriteString("collection"u8, collection);
        }
    }

    public static void WriteKey(Utf8JsonWriter writer, ReadOnlySpan<byte> key)
    {
        if (Utf8.IsValid(key))
        {
            writer.WriteString("key"u8, key);
        }
        else
        {
            writer.WriteBase64String("keyBase64"u8, key);
        }
    }

    public static void WriteValue(Utf8JsonWriter writer, ReadOnlySpan<byte> value)
    {
        if (Utf8.IsValid(value))
        {
            writer.WriteString("value"u8, value);
        }
        else
        {
            writer.WriteBase64String("valueBase64"u8, value);
        }
    }

    /// <summary>Writes the properties that are only valid in this store.</summary>
    public static void WriteFacts(Utf8JsonWriter writer, EntryInfo info)
    {
        writer.WriteNumber("valueBytes"u8, info.ValueBytes);
        writer.WriteString("version"u8, info.Version.ToString(System.Globalization.CultureInfo.InvariantCulture));
    }

    /// <summary>Writes the properties that an import needs in addition to key and value.</summary>
    public static void WriteProperties(Utf8JsonWriter writer, EntryInfo info)
    {
        if (info.Flags != 0)
        {
            writer.WriteNumber("flags"u8, info.Flags);
        }

        if (info.ExpiresAt is { } moment)
        {
            writer.WriteString("expires"u8, Figures.Moment(moment));
        }

        if (info.SlidingInterval is { } interval)
        {
            writer.WriteNumber("slidingMs"u8, (long)interval.TotalMilliseconds);
        }

        if (info.SlidingLimit is { } limit)
        {
            writer.WriteString("slidingLimit"u8, Figures.Moment(limit));
        }
    }
}
