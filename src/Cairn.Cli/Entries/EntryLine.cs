using System.Buffers.Text;
using System.Text.Json;

namespace Cairn.Cli.Entries;

// Reads one line of an import: an object in the form of EntryJson. A line is a whole entry or an error. A property that is unknown,
// duplicate or of the wrong type is an error, because otherwise an entry with a misspelt "expires" would never expire. The object and its
// memory are reused for all lines.
internal sealed class EntryLine
{
    /// <summary>The longest name of a collection, in bytes of UTF-8.</summary>
    private const int MaxCollectionBytes = 192;

    private readonly HashSet<string> _seen = new(StringComparer.Ordinal);
    private byte[] _key = [];
    private byte[] _value = [];
    private byte[] _scratch = [];
    private int _keyBytes;
    private int _valueBytes;

    public ReadOnlySpan<byte> Key => _key.AsSpan(0, _keyBytes);

    public ReadOnlySpan<byte> Value => _value.AsSpan(0, _valueBytes);

    public uint Flags { get; private set; }

    /// <summary>Gets the time of expiration; null if the entry does not expire.</summary>
    public DateTimeOffset? Expires { get; private set; }

    public TimeSpan? Sliding { get; private set; }

    public DateTimeOffset? SlidingLimit { get; private set; }

    /// <summary>Gets the name of the collection; null if the line names none.</summary>
    public string? Collection { get; private set; }

    public Expiration Expiration =>
        Sliding is { } interval ? Expiration.Sliding(interval, SlidingLimit)
        : Expires is { } moment ? Expiration.At(moment)
        : Expiration.None;

    /// <summary>Reads a line.</summary>
    /// <returns>Null if the line is an entry, which this object then holds; otherwise the mistake.</returns>
    public string? TryRead(ReadOnlySpan<byte> line)
    {
        _seen.Clear();
        _keyBytes = 0;
        _valueBytes = 0;
        Flags = 0;
        Expires = null;
        Sliding = null;
        SlidingLimit = null;
        Collection = null;
        try
        {
            return ReadObject(line) ?? CheckWhole();
        }
        catch (JsonException malformed)
        {
            string message = malformed.Message;
            int end = message.IndexOf(" LineNumber:", StringComparison.Ordinal);
            return string.Create(
                CultureInfo.InvariantCulture,
                $"not JSON at byte {malformed.BytePositionInLine}: {(end < 0 ? message : message[..end]).TrimEnd('.')}");
        }
        catch (InvalidOperationException)
        {
            // For strings, the reader throws this exception only for invalid Unicode: half of a surrogate pair, or bytes that are not
            // UTF-8.
            return "a string is not valid Unicode; bytes that are not text go into keyBase64 or valueBase64";
        }
    }

    private string? ReadObject(ReadOnlySpan<byte> line)
    {
        var reader = new Utf8JsonReader(line);
        reader.Read();
        if (reader.TokenType != JsonTokenType.StartObject)
        {
            return "not a JSON object";
        }

        int? expectedValueBytes = null;
        while (reader.Read() && reader.TokenType == JsonTokenType.PropertyName)
        {
            string name = reader.GetString()!;
            if (!_seen.Add(name))
            {
                return $"\"{name}\" is there twice";
            }

            reader.Read();
            string? wrong = name switch
            {
                "key" => ReadText(ref reader, name, ref _key, out _keyBytes),
                "keyBase64" => ReadBase64(ref reader, name, ref _key, out _keyBytes),
                "value" => ReadText(ref reader, name, ref _value, out _valueBytes),
                "valueBase64" => ReadBase64(ref reader, name, ref _value, out _valueBytes),
                "flags" => ReadFlags(ref reader),
                "expires" => ReadMoment(ref reader, name, moment => Expires = moment),
                "slidingMs" => ReadSliding(ref reader),
                "slidingLimit" => ReadMoment(ref reader, name, moment => SlidingLimit = moment),
                "collection" => ReadCollection(ref reader),
                "valueBytes" => ReadValueBytes(ref reader, out expectedValueBytes),
                "version" => ReadVersion(ref reader),
                _ => $"\"{name}\" is no property of an entry",
            };
            if (wrong is not null)
            {
                return wrong;
            }
        }

        // The reader throws an exception if text follows the object.
        reader.Read();
        return expectedValueBytes is { } expected && expected != _valueBytes
            ? string.Create(CultureInfo.InvariantCulture, $"the value has {_valueBytes} bytes, but \"valueBytes\" says {expected}")
            : null;
    }

    private string? CheckWhole()
    {
        if (_seen.Contains("key") == _seen.Contains("keyBase64"))
        {
            return "an entry has either \"key\" or \"keyBase64\"";
        }

        if (_seen.Contains("value") == _seen.Contains("valueBase64"))
        {
            return "an entry has either \"value\" or \"valueBase64\"";
        }

        if (_keyBytes is < 1 or > KeyInput.MaxKeyBytes)
        {
            return string.Create(CultureInfo.InvariantCulture, $"a key has 1 to {KeyInput.MaxKeyBytes} bytes; this one has {_keyBytes}");
        }

        return SlidingLimit is not null && Sliding is null ? "\"slidingLimit\" needs \"slidingMs\"" : null;
    }

    private static string? ReadText(ref Utf8JsonReader reader, string name, ref byte[] buffer, out int length)
    {
        length = 0;
        if (reader.TokenType != JsonTokenType.String)
        {
            return $"\"{name}\" must be a string";
        }

        // Unescaping never makes a string longer.
        int most = reader.ValueSpan.Length;
        if (buffer.Length < most)
        {
            buffer = GC.AllocateUninitializedArray<byte>(Math.Max(most, 256));
        }

        length = reader.CopyString(buffer);
        return null;
    }

    private static string? ReadBase64(ref Utf8JsonReader reader, string name, ref byte[] buffer, out int length)
    {
        if (ReadText(ref reader, name, ref buffer, out int textBytes) is { } wrong)
        {
            length = 0;
            return wrong;
        }

        return Base64.DecodeFromUtf8InPlace(buffer.AsSpan(0, textBytes), out length) == OperationStatus.Done
            ? null
            : $"\"{name}\" is not Base64";
    }

    private string? ReadFlags(ref Utf8JsonReader reader)
    {
        if (reader.TokenType != JsonTokenType.Number || !reader.TryGetUInt32(out uint flags))
        {
            return "\"flags\" must be a number from 0 to 4294967295";
        }

        Flags = flags;
        return null;
    }

    private string? ReadMoment(ref Utf8JsonReader reader, string name, Action<DateTimeOffset> take)
    {
        if (ReadText(ref reader, name, ref _scratch, out int length) is not null
            || !Moment.TryParse(Encoding.UTF8.GetString(_scratch.AsSpan(0, length)), out DateTimeOffset moment))
        {
            return $"\"{name}\" must be {Moment.Form}";
        }

        take(moment);
        return null;
    }

    private string? ReadSliding(ref Utf8JsonReader reader)
    {
        const long Longest = 100_000L * 24 * 60 * 60 * 1000;
        if (reader.TokenType != JsonTokenType.Number || !reader.TryGetInt64(out long interval) || interval is < 1 or > Longest)
        {
            return string.Create(CultureInfo.InvariantCulture, $"\"slidingMs\" must be a number from 1 to {Longest}");
        }

        Sliding = TimeSpan.FromMilliseconds(interval);
        return null;
    }

    private string? ReadCollection(ref Utf8JsonReader reader)
    {
        if (ReadText(ref reader, "collection", ref _scratch, out int length) is { } wrong)
        {
            return wrong;
        }

        if (length > MaxCollectionBytes)
        {
            return string.Create(
                CultureInfo.InvariantCulture, $"the name of a collection has at most {MaxCollectionBytes} bytes; this one has {length}");
        }

        Collection = Encoding.UTF8.GetString(_scratch.AsSpan(0, length));
        return null;
    }

    private static string? ReadValueBytes(ref Utf8JsonReader reader, out int? length)
    {
        length = reader.TokenType == JsonTokenType.Number && reader.TryGetInt32(out int bytes) ? bytes : null;
        return length is null ? "\"valueBytes\" must be a number" : null;
    }

    // The store assigns versions itself, so the version of a dump is ignored.
    private static string? ReadVersion(ref Utf8JsonReader reader) =>
        reader.TokenType == JsonTokenType.String ? null : "\"version\" must be a string";
}
