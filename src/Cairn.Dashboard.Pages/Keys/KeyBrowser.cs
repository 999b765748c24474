using System.Buffers.Text;
using System.Text.Json;
using Cairn.Dashboard.Pages.Access;

namespace Cairn.Dashboard.Pages.Keys;

/// <summary>Lists the keys of a store, shows their values and removes them, within the rights of a user.</summary>
/// <param name="store">The store.</param>
/// <param name="readHash">Visits each field and value in the bytes of a hash; null to show hashes as bytes.</param>
internal sealed class KeyBrowser(CairnStore store, HashReader? readHash = null)
{
    private const int MaxListed = 500;
    private const int MaxShownBytes = 256 << 10;
    private const int MaxShownKeyBytes = 512;
    private const int MaxShownFields = 500;

    // A search returns the keys found within this time. The next request continues it.
    private static readonly TimeSpan s_turn = TimeSpan.FromMilliseconds(50);

    /// <summary>Returns the names of the collections that a user may see, with the default collection first.</summary>
    public IReadOnlyList<string> CollectionsFor(DashboardUser user) =>
        user.KeyPrefix.Length > 0 ? [""] : ["", .. store.CollectionNames.Order(StringComparer.Ordinal)];

    /// <summary>Returns whether there is a collection of that name that a user may see.</summary>
    public bool Has(string collection, DashboardUser user) => CollectionsFor(user).Contains(collection, StringComparer.Ordinal);

    /// <summary>Writes keys, and the progress of the search.</summary>
    /// <param name="writer">The writer, positioned within an object.</param>
    /// <param name="user">The user.</param>
    /// <param name="collection">A collection for which <see cref="Has"/> returns true.</param>
    /// <param name="match">A part of the keys, or with *, ? or [ a pattern as in KEYS; empty for all keys.</param>
    /// <param name="position">The position at which to continue; 0 to begin.</param>
    /// <param name="count">The number of keys to find. The result may have a few more.</param>
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
        do
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
        while (isMore && found < wanted && Stopwatch.GetElapsedTime(began) < s_turn);

        writer.WriteEndArray();
        writer.WriteBoolean("isComplete"u8, !isMore);
        writer.WriteNumber("position"u8, isMore ? cursor.Position : 0);
        writer.WriteNumber("searched"u8, isMore ? Math.Round((double)cursor.Position / store.Engine.BucketCount, 4) : 1);
    }

    /// <summary>Writes a value, or the beginning of a long one. Returns false if there is no value that this user may see.</summary>
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
            WriteFields(writer, info, value.WrittenSpan);
            return true;
        }

        writer.WriteNumber("shownBytes"u8, shown.Length);
        writer.WriteBase64String("value"u8, shown);
        return true;
    }

    /// <summary>Removes a key. Returns NotFound if there is no key that this user may change.</summary>
    /// <param name="user">The user.</param>
    /// <param name="collection">A collection for which <see cref="Has"/> returns true.</param>
    /// <param name="key">The key.</param>
    /// <param name="version">The required version of the entry; 0 to remove any version.</param>
    public WriteStatus Remove(DashboardUser user, string collection, byte[] key, ulong version)
    {
        if (!user.MayChange || !user.MaySee(key))
        {
            return WriteStatus.NotFound;
        }

        CairnCollection source = Open(collection);
        return version != 0 ? source.CompareAndRemove(key, version) : source.Remove(key) ? WriteStatus.Stored : WriteStatus.NotFound;
    }

    /// <summary>Returns a readable form of a key. Characters that do not print are written as escapes.</summary>
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

    /// <summary>Writes the properties that identify a key: its bytes, and its readable form.</summary>
    public static void WriteKey(Utf8JsonWriter writer, ReadOnlySpan<byte> key)
    {
        writer.WriteString("id"u8, Base64Url.EncodeToString(key));
        writer.WriteString("key"u8, Readable(key[..Math.Min(key.Length, MaxShownKeyBytes)]) + (key.Length > MaxShownKeyBytes ? "…" : ""));
        writer.WriteNumber("keyBytes"u8, key.Length);
    }

    // A text without wildcards matches anywhere in a key, as users expect of a search.
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
        writer.WriteString("version"u8, info.Version.ToString(CultureInfo.InvariantCulture)); // JavaScript numbers cannot hold all versions.
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

    private void WriteFields(Utf8JsonWriter writer, EntryInfo info, ReadOnlySpan<byte> bytes)
    {
        int written = 0;
        long shownBytes = 0;
        writer.WriteStartArray("fields"u8);
        int count = readHash!(info, bytes, (field, value) =>
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

    private CairnCollection Open(string collection) => collection.Length == 0 ? store.DefaultCollection : store.Collection(collection);
}

/// <summary>Receives a field and its value.</summary>
internal delegate void FieldVisitor(ReadOnlySpan<byte> field, ReadOnlySpan<byte> value);

/// <summary>Visits the fields of a hash and returns their number.</summary>
internal delegate int HashReader(EntryInfo info, ReadOnlySpan<byte> bytes, FieldVisitor visitor);
