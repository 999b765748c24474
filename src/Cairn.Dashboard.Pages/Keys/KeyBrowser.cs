using System.Buffers;
using System.Buffers.Text;
using System.Diagnostics;
using System.Globalization;
using System.Text;
using System.Text.Json;
using Cairn.Dashboard.Pages.Access;

namespace Cairn.Dashboard.Pages.Keys;

/// <summary>Lists the keys of a store, shows their values and removes them, as far as a user may.</summary>
/// <param name="store">The store.</param>
/// <param name="readHash">Calls with each field and value of a hash's bytes; null if hashes are shown as bytes.</param>
internal sealed class KeyBrowser(CairnStore store, HashReader? readHash = null)
{
    private const int MaxListed = 500;
    private const int MaxShownBytes = 256 << 10;
    private const int MaxShownKeyBytes = 512;
    private const int MaxShownFields = 500;

    // A search gives back what it has found so far when this is over, and goes on when it is asked to.
    private static readonly TimeSpan s_turn = TimeSpan.FromMilliseconds(50);

    /// <summary>Names of the collections that a user may see, the store's own first.</summary>
    public IReadOnlyList<string> CollectionsFor(DashboardUser user) =>
        user.KeyPrefix.Length > 0 ? [""] : ["", .. store.CollectionNames.Order(StringComparer.Ordinal)];

    /// <summary>Whether there is a collection of that name that a user may see.</summary>
    public bool Has(string collection, DashboardUser user) => CollectionsFor(user).Contains(collection, StringComparer.Ordinal);

    /// <summary>Writes keys, and how far the search has got.</summary>
    /// <param name="writer">Within an object.</param>
    /// <param name="user">Who asks.</param>
    /// <param name="collection">One that <see cref="Has"/>.</param>
    /// <param name="match">What keys contain, or with * ? or [ a pattern as for KEYS; empty for all.</param>
    /// <param name="position">Where to go on; 0 to begin.</param>
    /// <param name="count">How many are wanted; a few more may be found.</param>
    public void WriteKeys(Utf8JsonWriter writer, DashboardUser user, string collection, string match, long position, int count)
    {
        KeyFilter? filter = FilterOf(match);
        CairnCollection source = Open(collection);
        var cursor = new ScanCursor(position);
        int wanted = Math.Clamp(count, 1, MaxListed);
        int found = 0;
        bool isMore = true;
        long began = Stopwatch.GetTimestamp();
        writer.WriteStartArray("keys"u8);
        while (isMore && found < wanted && Stopwatch.GetElapsedTime(began) < s_turn)
        {
            isMore = source.Scan(ref cursor, filter, (key, info) =>
            {
                if (user.MaySee(key))
                {
                    found++;
                    WriteEntry(writer, key, info);
                }
            });
        }

        writer.WriteEndArray();
        writer.WriteBoolean("isComplete"u8, !isMore);
        writer.WriteNumber("position"u8, isMore ? cursor.Position : 0);
        writer.WriteNumber("searched"u8, isMore ? Math.Round((double)cursor.Position / store.Engine.BucketCount, 4) : 1);
    }

    /// <summary>Writes a value, or its beginning; false if there is none that this user may see.</summary>
    public bool TryWriteValue(Utf8JsonWriter writer, DashboardUser user, string collection, byte[] key)
    {
        var value = new ArrayBufferWriter<byte>();
        if (!user.MaySee(key) || !Open(collection).TryPeek(key, value, out EntryInfo info, acceptHash: true))
        {
            return false;
        }

        WriteFacts(writer, key, info);
        ReadOnlySpan<byte> shown = value.WrittenSpan[..Math.Min(value.WrittenCount, MaxShownBytes)];
        if (info.Type == EntryType.Hash && readHash is not null)
        {
            WriteFields(writer, value.WrittenSpan);
            return true;
        }

        writer.WriteNumber("shownBytes"u8, shown.Length);
        writer.WriteBase64String("value"u8, shown);
        return true;
    }

    /// <summary>Removes a key; false if there is none that this user may change.</summary>
    /// <param name="user">Who asks.</param>
    /// <param name="collection">One that <see cref="Has"/>.</param>
    /// <param name="key">The key.</param>
    /// <param name="version">Only if the entry still is this one; 0 in any case.</param>
    public WriteStatus Remove(DashboardUser user, string collection, byte[] key, ulong version)
    {
        if (!user.MayChange || !user.MaySee(key))
        {
            return WriteStatus.NotFound;
        }

        CairnCollection source = Open(collection);
        return version != 0 ? source.Remove(key, version) : source.Remove(key) ? WriteStatus.Stored : WriteStatus.NotFound;
    }

    /// <summary>A key for people to read: what does not print is told as in a C string.</summary>
    public static string Readable(ReadOnlySpan<byte> key)
    {
        var text = new StringBuilder(key.Length);
        while (!key.IsEmpty)
        {
            if (Rune.DecodeFromUtf8(key, out Rune rune, out int length) != OperationStatus.Done)
            {
                foreach (byte invalid in key[..length])
                {
                    text.Append(CultureInfo.InvariantCulture, $"\\x{invalid:X2}");
                }
            }
            else if (rune.Value == '\\')
            {
                text.Append(@"\\");
            }
            else if (Rune.GetUnicodeCategory(rune) is UnicodeCategory.Control or UnicodeCategory.Format or UnicodeCategory.LineSeparator
                or UnicodeCategory.ParagraphSeparator or UnicodeCategory.PrivateUse or UnicodeCategory.OtherNotAssigned)
            {
                text.Append(CultureInfo.InvariantCulture, $"\\u{{{rune.Value:X}}}");
            }
            else
            {
                text.Append(rune.ToString());
            }

            key = key[length..];
        }

        return text.ToString();
    }

    /// <summary>Writes what names a key: its bytes, and how it reads.</summary>
    public static void WriteKey(Utf8JsonWriter writer, ReadOnlySpan<byte> key)
    {
        writer.WriteString("id"u8, Base64Url.EncodeToString(key));
        writer.WriteString("key"u8, Readable(key[..Math.Min(key.Length, MaxShownKeyBytes)]) + (key.Length > MaxShownKeyBytes ? "…" : ""));
        writer.WriteNumber("keyBytes"u8, key.Length);
    }

    // A text without wildcards is looked for anywhere in the key: what people who search expect.
    private static KeyFilter? FilterOf(string match) =>
        match.Length == 0 ? null
        : match.AsSpan().IndexOfAny("*?[") >= 0 ? KeyFilter.Glob(match)
        : KeyFilter.Glob($"*{match.Replace(@"\", @"\\", StringComparison.Ordinal)}*");

    private static void WriteEntry(Utf8JsonWriter writer, ReadOnlySpan<byte> key, in EntryInfo info)
    {
        writer.WriteStartObject();
        WriteFacts(writer, key, info);
        writer.WriteEndObject();
    }

    private static void WriteFacts(Utf8JsonWriter writer, ReadOnlySpan<byte> key, in EntryInfo info)
    {
        WriteKey(writer, key);
        writer.WriteString("type"u8, info.Type == EntryType.Hash ? "hash"u8 : "value"u8);
        writer.WriteNumber("valueBytes"u8, info.ValueBytes);
        writer.WriteString("version"u8, info.Version.ToString(CultureInfo.InvariantCulture)); // More than a number of JavaScript can hold.
        if (info.Flags != 0)
        {
            writer.WriteNumber("flags"u8, info.Flags);
        }

        if (info.ExpiresAt is { } moment)
        {
            writer.WriteNumber("expiresMs"u8, moment.ToUnixTimeMilliseconds());
        }

        if (info.SlidingInterval is { } interval)
        {
            writer.WriteNumber("slidingMs"u8, (long)interval.TotalMilliseconds);
        }
    }

    private void WriteFields(Utf8JsonWriter writer, ReadOnlySpan<byte> bytes)
    {
        int written = 0;
        long shownBytes = 0;
        writer.WriteStartArray("fields"u8);
        int count = readHash!(bytes, (field, value) =>
        {
            if (written >= MaxShownFields || shownBytes >= MaxShownBytes)
            {
                return;
            }

            written++;
            shownBytes += field.Length + value.Length;
            writer.WriteStartObject();
            writer.WriteString("field"u8, Readable(field[..Math.Min(field.Length, MaxShownKeyBytes)]));
            writer.WriteString("value"u8, Readable(value[..Math.Min(value.Length, MaxShownKeyBytes)]) + (value.Length > MaxShownKeyBytes ? "…" : ""));
            writer.WriteNumber("valueBytes"u8, value.Length);
            writer.WriteEndObject();
        });
        writer.WriteEndArray();
        writer.WriteNumber("fieldCount"u8, count);
    }

    private CairnCollection Open(string collection) => collection.Length == 0 ? store : store.Collection(collection);
}

/// <summary>Is called with a field and its value.</summary>
internal delegate void FieldVisitor(ReadOnlySpan<byte> field, ReadOnlySpan<byte> value);

/// <summary>Reads the fields of a hash, and says how many there are.</summary>
internal delegate int HashReader(ReadOnlySpan<byte> bytes, FieldVisitor visitor);
