using System.Text.Json;
using System.Text.Unicode;
using Cairn.FileStore.Entries;

namespace Cairn.FileStore.Format;

/// <summary>The result of reading a text.</summary>
internal enum TextOutcome
{
    /// <summary>The text is complete and valid.</summary>
    Complete,

    /// <summary>The text ends too early (F2).</summary>
    Torn,

    /// <summary>The text is not a cache file, or it is malformed.</summary>
    Invalid,
}

// Reads the text of a cache file, or of lines appended to one, into a table, in one pass. It throws no exceptions for errors in the text.
internal ref struct FileReader
{
    private delegate bool OldValueReader<TTarget>(ref FileReader reader, string key, TTarget target);

    private static readonly UTF8Encoding Strict = new(encoderShouldEmitUTF8Identifier: false, throwOnInvalidBytes: true);

    private static readonly SearchValues<byte> EndsPlainText = SearchValues.Create(
        [.. Enumerable.Range(0, 32).Select(code => (byte)code), (byte)'"', (byte)'\\']);

    private static readonly JsonReaderOptions ValueOptions = new() { MaxDepth = FileFormat.DeepestValue };

    private static readonly string[] TimeFormats =
        ["yyyy-MM-dd'T'HH:mm:ss.FFFFFFFK", "yyyy-MM-dd'T'HH:mmK", "yyyy-MM-dd HH:mm:ss.FFFFFFFK", "yyyy-MM-dd HH:mmK", "yyyy-MM-dd"];

    private readonly ReadOnlySpan<byte> _text;
    private readonly bool _endsInZeros;
    private int _position;
    private bool _isOurs;
    private int _errorAt;
    private string? _error;

    public FileReader(ReadOnlySpan<byte> text)
    {
        // After a power loss, the file may be longer than the data that reached the disk. The missing part reads as zeros.
        _text = text.TrimEnd((byte)0);
        _endsInZeros = _text.Length < text.Length;
    }

    /// <summary>Gets the offset in bytes where the last complete entry ends.</summary>
    public int EndOfEntries { get; private set; }

    /// <summary>Gets whether the text has entries.</summary>
    public bool HasEntries { get; private set; }

    /// <summary>Gets whether the text is a file of Net.DistributedFileStoreCache.</summary>
    public bool IsOldFormat { get; private set; }

    /// <summary>Gets whether the text is of version 1 of the format (F4).</summary>
    public bool IsEarlierVersion { get; private set; }

    /// <summary>Gets the error in an invalid text; null if there is none.</summary>
    public readonly FormatProblem? Problem => _error is null ? null : FormatProblem.At(_text, _errorAt, _error);

    /// <summary>Reads a whole file.</summary>
    public TextOutcome ReadFile(EntryTable table)
    {
        if (_text.StartsWith("\uFEFF"u8))
        {
            _position = 3;
        }
        else if (_text.StartsWith((ReadOnlySpan<byte>)[0xFF, 0xFE]) || _text.StartsWith((ReadOnlySpan<byte>)[0xFE, 0xFF]))
        {
            Fail(0, "the file is not UTF-8 but UTF-16; save it as UTF-8");
            return TextOutcome.Invalid;
        }

        EndOfEntries = _position;
        return Finish(ReadHeader(out bool isEmptyOldFile) && (isEmptyOldFile || (IsOldFormat ? ReadOldFile(table) : ReadEntries(table) && ReadClosing())));
    }

    /// <summary>Reads appended entries. The text begins with their separator from the earlier entries.</summary>
    /// <param name="table">The table that receives the entries.</param>
    public TextOutcome ReadAppended(EntryTable table)
    {
        _isOurs = true;
        SkipSpace();
        TryTake((byte)','); // No comma precedes the first entries of a file.

        while (true)
        {
            SkipSpace();
            if (!ReadEntry(table))
            {
                return Finish(isDone: false);
            }

            SkipSpace();
            if (_position == _text.Length)
            {
                return Finish(isDone: true);
            }

            if (!Take((byte)',', "a comma between entries"))
            {
                return Finish(isDone: false);
            }
        }
    }

    private readonly TextOutcome Finish(bool isDone)
    {
        // A text of white space is an empty file, which the engine detects before it calls the reader.
        if (isDone)
        {
            return _endsInZeros ? TextOutcome.Torn : TextOutcome.Complete;
        }

        // A truncated file of the old format does not show what is missing. Only the lines of the current format are either complete or not.
        return _errorAt >= _text.Length && _isOurs ? TextOutcome.Torn : TextOutcome.Invalid;
    }

    // ---- The file ---------------------------------------------------------------------------------------------------

    // {"format":"cairn.filestore/1","entries":[   or   {"Cache":   or   {"TimeOuts":   or   {}
    private bool ReadHeader(out bool isEmptyOldFile)
    {
        isEmptyOldFile = false;
        IsEarlierVersion = _text.StartsWith(FileFormat.EarlierHeader);
        if (IsEarlierVersion || _text.StartsWith(FileFormat.Header))
        {
            _position = FileFormat.Header.Length;
            EndOfEntries = _position;
            _isOurs = true;
            return true;
        }

        if (FileFormat.Header.StartsWith(_text[_position..]) || FileFormat.EarlierHeader.StartsWith(_text[_position..]))
        {
            _isOurs = true; // The header itself is incomplete (F2).
            _position = _text.Length;
            return Fail(_position, "the file ends in its first line");
        }

        SkipSpace();
        if (!Take((byte)'{', "an object"))
        {
            return false;
        }

        SkipSpace();
        if (TryTake((byte)'}'))
        {
            IsOldFormat = true;
            isEmptyOldFile = true;
            SkipSpace();
            return _position == _text.Length || Fail(_position, "nothing may follow the object");
        }

        int start = _position;
        if (!ReadString(out string property))
        {
            return false;
        }

        if (property is "Cache" or "TimeOuts")
        {
            IsOldFormat = true;
            _position = start;
            return true;
        }

        if (property != "format")
        {
            return Fail(start, "the file begins neither as a cache file, with \"format\", nor as one of Net.DistributedFileStoreCache, with \"Cache\"");
        }

        start = _position;
        if (!TakeColon() || !ReadString(out string format))
        {
            return false;
        }

        IsEarlierVersion = format == FileFormat.EarlierName;
        if (!IsEarlierVersion && format != FileFormat.Name)
        {
            return Fail(start, $"the format is \"{format}\", and this version reads \"{FileFormat.EarlierName}\" and \"{FileFormat.Name}\"");
        }

        SkipSpace();
        if (!Take((byte)',', "a comma"))
        {
            return false;
        }

        SkipSpace();
        start = _position;
        if (!ReadString(out property))
        {
            return false;
        }

        if (property != "entries")
        {
            return Fail(start, $"\"entries\" was expected instead of \"{property}\"");
        }

        if (!TakeColon() || !Take((byte)'[', "the array of entries"))
        {
            return false;
        }

        EndOfEntries = _position;
        _isOurs = true;
        return true;
    }

    private bool ReadEntries(EntryTable table)
    {
        SkipSpace();
        if (TryTake((byte)']'))
        {
            return true;
        }

        while (true)
        {
            SkipSpace();
            if (!ReadEntry(table))
            {
                return false;
            }

            SkipSpace();
            if (TryTake((byte)']'))
            {
                return true;
            }

            if (!Take((byte)',', "a comma or the end of the entries"))
            {
                return false;
            }
        }
    }

    private bool ReadClosing()
    {
        SkipSpace();
        if (!Take((byte)'}', "the brace that closes the file"))
        {
            return false;
        }

        SkipSpace();
        return _position == _text.Length || Fail(_position, "nothing may follow the brace that closes the file");
    }

    // {"Cache":{"key":"value"},"TimeOuts":{"key":ticks}}
    private bool ReadOldFile(EntryTable table)
    {
        var values = new List<KeyValuePair<string, string>>();
        var expirations = new Dictionary<string, long>(StringComparer.Ordinal);
        do
        {
            SkipSpace();
            int start = _position;
            if (!ReadString(out string property) || !TakeColon())
            {
                return false;
            }

            bool isRead = property switch
            {
                "Cache" => ReadOldValues(values),
                "TimeOuts" => ReadOldExpirations(expirations),
                _ => Fail(start, $"there is no property \"{property}\" in a file of Net.DistributedFileStoreCache"),
            };
            if (!isRead)
            {
                return false;
            }

            SkipSpace();
        }
        while (TryTake((byte)','));

        if (!Take((byte)'}', "a comma or the end of the object"))
        {
            return false;
        }

        SkipSpace();
        if (_position != _text.Length)
        {
            return Fail(_position, "nothing may follow the object");
        }

        foreach ((string key, string value) in values)
        {
            table.Put(new Entry(key, value)
            {
                ExpiresTicks = expirations.GetValueOrDefault(key, Entry.Never),
                LineBytes = (key.Length + value.Length) * 2, // The value does not matter, because the file is about to be rewritten.
            });
        }

        HasEntries = values.Count > 0;
        return true;
    }

    private bool ReadOldValues(List<KeyValuePair<string, string>> values) => ReadOldObject(
        "values",
        values,
        static (ref FileReader reader, string key, List<KeyValuePair<string, string>> values) =>
        {
            if (!reader.ReadString(out string value))
            {
                return false;
            }

            values.Add(new(key, value));
            return true;
        });

    private bool ReadOldExpirations(Dictionary<string, long> expirations) => ReadOldObject(
        "times",
        expirations,
        static (ref FileReader reader, string key, Dictionary<string, long> expirations) =>
        {
            int start = reader._position;
            while (reader._position < reader._text.Length && char.IsAsciiDigit((char)reader._text[reader._position]))
            {
                reader._position++;
            }

            ReadOnlySpan<byte> digits = reader._text[start..reader._position];
            if (!long.TryParse(digits, NumberStyles.None, CultureInfo.InvariantCulture, out long ticks) || (digits[0] == (byte)'0' && digits.Length > 1))
            {
                return reader.Fail(start, "a number of ticks was expected");
            }

            expirations[key] = Math.Min(ticks, DateTime.MaxValue.Ticks);
            return true;
        });

    // Reads an object with the keys of the cache, or null.
    private bool ReadOldObject<TTarget>(string what, TTarget target, OldValueReader<TTarget> readValue)
    {
        if (TryTakeText("null"u8))
        {
            return true;
        }

        if (!Take((byte)'{', $"an object of keys and {what}"))
        {
            return false;
        }

        SkipSpace();
        if (TryTake((byte)'}'))
        {
            return true;
        }

        do
        {
            SkipSpace();
            if (!ReadString(out string key) || !TakeColon() || !readValue(ref this, key, target))
            {
                return false;
            }

            SkipSpace();
        }
        while (TryTake((byte)','));

        return Take((byte)'}', $"a comma or the end of the {what}");
    }

    // ---- An entry ---------------------------------------------------------------------------------------------------

    private bool ReadEntry(EntryTable table)
    {
        int start = _position;
        return TryTake((byte)'[') ? ReadShortEntry(table, start) : ReadLongEntry(table, start);
    }

    // ["key",value] or ["key",value,"expires"]; the bracket has been read.
    private bool ReadShortEntry(EntryTable table, int start)
    {
        SkipSpace();
        if (!ReadString(out string key))
        {
            return false;
        }

        SkipSpace();
        if (!Take((byte)',', "a comma and the value of the entry"))
        {
            return false;
        }

        SkipSpace();
        object? value = null;
        if (!ReadValue(_position, ref value))
        {
            return false;
        }

        SkipSpace();
        long expires = Entry.Never;
        if (TryTake((byte)','))
        {
            SkipSpace();
            if (!ReadTime(out expires))
            {
                return false;
            }

            SkipSpace();
        }

        if (!Take((byte)']', "the bracket that closes the entry"))
        {
            return false;
        }

        Add(table, new Entry(key, value) { ExpiresTicks = expires, LineBytes = LineBytes(start) });
        return true;
    }

    private bool ReadLongEntry(EntryTable table, int start)
    {
        string? key = null;
        object? value = null;
        long expires = Entry.Never;
        long touched = Entry.Never;
        long latest = Entry.Never;
        long sliding = 0;
        bool isRemoved = false;
        if (!Take((byte)'{', "an entry"))
        {
            return false;
        }

        do
        {
            SkipSpace();
            int propertyAt = _position;
            if (!ReadString(out string property) || !TakeColon())
            {
                return false;
            }

            bool isRead = property switch
            {
                "key" => ReadKey(propertyAt, ref key),
                "value" => ReadValue(propertyAt, ref value),
                "bytes" => ReadBytes(propertyAt, ref value),
                "expires" => ReadTime(out expires),
                "touched" => ReadTime(out touched),
                "latest" => ReadTime(out latest),
                "sliding" => ReadSpan(out sliding),
                "removed" => ReadTrue(out isRemoved),
                _ => Fail(propertyAt, $"there is no property \"{property}\"; an entry has \"key\", \"value\" or \"bytes\", \"expires\", \"sliding\", \"latest\""),
            };
            if (!isRead)
            {
                return false;
            }

            SkipSpace();
        }
        while (TryTake((byte)','));

        if (!Take((byte)'}', "a comma or the brace that closes the entry"))
        {
            return false;
        }

        if (key is null)
        {
            return Fail(start, "the entry has no \"key\"");
        }

        if ((value is not null ? 1 : 0) + (isRemoved ? 1 : 0) + (touched != Entry.Never ? 1 : 0) != 1)
        {
            return Fail(start, "an entry has one of \"value\", \"bytes\", \"removed\" and \"touched\"");
        }

        if (touched != Entry.Never)
        {
            Touch(table, key, touched);
            return true;
        }

        Add(table, new Entry(key, value)
        {
            ExpiresTicks = expires,
            Sliding = sliding == 0 ? null : new SlidingTimes(sliding, latest),
            LineBytes = LineBytes(start),
        });
        return true;
    }

    private void Add(EntryTable table, Entry entry)
    {
        table.Put(entry);
        EndOfEntries = _position;
        HasEntries = true;
    }

    private void Touch(EntryTable table, string key, long expires)
    {
        if (table.Find(key) is { Value: not null } before)
        {
            table.Put(before.With(expires, before.LineBytes)); // The line with the value still determines the length.
        }

        EndOfEntries = _position;
        HasEntries = true;
    }

    private readonly int LineBytes(int start) => _position - start + FileFormat.Separator.Length;

    private bool ReadKey(int propertyAt, ref string? key)
    {
        if (key is not null)
        {
            return Fail(propertyAt, "the entry has two keys");
        }

        bool isRead = ReadString(out string text);
        key = text;
        return isRead;
    }

    private bool ReadValue(int propertyAt, ref object? value)
    {
        if (value is not null)
        {
            return Fail(propertyAt, "the entry has two values");
        }

        if (_position < _text.Length && _text[_position] == (byte)'"')
        {
            bool isRead = ReadString(out string text);
            value = text;
            return isRead;
        }

        int start = _position;
        if (!SkipValue())
        {
            return false;
        }

        ReadOnlySpan<byte> json = _text[start.._position];
        if (!Utf8.IsValid(json))
        {
            return TryDecode(start, _position, out _); // Reports the position of the invalid byte.
        }

        // Removes line feeds, so that an entry is one line even if a person has formatted its value over several lines.
        value = new JsonText(json.IndexOfAny((byte)'\n', (byte)'\r') >= 0 ? JsonLayout.OnOneLine(json) : json.ToArray());
        return true;
    }

    private bool ReadBytes(int propertyAt, ref object? value)
    {
        if (value is not null)
        {
            return Fail(propertyAt, "the entry has two values");
        }

        int start = _position;
        if (!ReadString(out string text))
        {
            return false;
        }

        var bytes = new byte[((text.Length + 3) / 4) * 3];
        if (!Convert.TryFromBase64String(text, bytes, out int length))
        {
            return Fail(start, "\"bytes\" is not Base64");
        }

        Array.Resize(ref bytes, length);
        value = bytes;
        return true;
    }

    private bool ReadTime(out long ticks)
    {
        ticks = 0;
        int start = _position;
        if (!ReadString(out string text))
        {
            return false;
        }

        if (!DateTime.TryParseExact(
            text, TimeFormats, CultureInfo.InvariantCulture, DateTimeStyles.AssumeUniversal | DateTimeStyles.AdjustToUniversal, out DateTime time))
        {
            return Fail(start, $"\"{text}\" is not a time as in 2030-01-31T23:59:59Z");
        }

        ticks = time.Ticks;
        return true;
    }

    private bool ReadSpan(out long ticks)
    {
        ticks = 0;
        int start = _position;
        if (!ReadString(out string text))
        {
            return false;
        }

        if (!TimeSpan.TryParseExact(text, "c", CultureInfo.InvariantCulture, out TimeSpan span) || span <= TimeSpan.Zero)
        {
            return Fail(start, $"\"{text}\" is not a length of time as in 00:20:00");
        }

        ticks = span.Ticks;
        return true;
    }

    private bool ReadTrue(out bool value)
    {
        value = TryTakeText("true"u8);
        return value || Fail(_text[_position..].Length < 4 && "true"u8.StartsWith(_text[_position..]) ? _text.Length : _position, "\"removed\" is true or absent");
    }

    // ---- JSON -------------------------------------------------------------------------------------------------------

    private bool ReadString(out string text)
    {
        text = "";
        if (_position >= _text.Length || _text[_position] != (byte)'"')
        {
            return Fail(_position, "a string was expected");
        }

        int start = _position + 1;
        int length = _text[start..].IndexOfAny(EndsPlainText);
        if (length >= 0 && _text[start + length] == (byte)'"')
        {
            _position = start + length + 1;
            return TryDecode(start, start + length, out text);
        }

        return ReadEscapedString(start, out text);
    }

    private bool ReadEscapedString(int start, out string text)
    {
        text = "";
        var built = new StringBuilder();
        int position = start;
        while (true)
        {
            int plain = _text[position..].IndexOfAny(EndsPlainText);
            if (plain < 0)
            {
                return Fail(_text.Length, "the string does not end");
            }

            if (plain > 0)
            {
                if (!TryDecode(position, position + plain, out string piece))
                {
                    return false;
                }

                built.Append(piece);
                position += plain;
            }

            byte special = _text[position];
            if (special == (byte)'"')
            {
                _position = position + 1;
                text = built.ToString();
                return true;
            }

            if (special != (byte)'\\')
            {
                return Fail(position, special == (byte)'\n' ? "the string does not end in its line" : "a control character must be escaped in a string");
            }

            if (!ReadEscape(ref position, built))
            {
                return false;
            }
        }
    }

    private bool ReadEscape(ref int position, StringBuilder built)
    {
        if (position + 1 >= _text.Length)
        {
            return Fail(_text.Length, "the string does not end");
        }

        byte letter = _text[position + 1];
        if (letter == (byte)'u')
        {
            return ReadUnicodeEscape(ref position, built);
        }

        char unit = (char)letter switch
        {
            '"' or '\\' or '/' => (char)letter,
            'b' => '\b',
            'f' => '\f',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            _ => '\0',
        };
        if (unit == '\0')
        {
            return Fail(position, "there is no such escape; a backslash itself is written \\\\");
        }

        built.Append(unit);
        position += 2;
        return true;
    }

    private bool ReadUnicodeEscape(ref int position, StringBuilder built)
    {
        ReadOnlySpan<byte> digits = _text[(position + 2)..];
        if (digits.Length < 4)
        {
            return Fail(_text.Length, "the string does not end");
        }

        // The framework ignores zero bytes at the end of a number.
        if (digits[3] == 0 || !ushort.TryParse(digits[..4], NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out ushort code))
        {
            return Fail(position, "\\u is followed by four hexadecimal digits");
        }

        built.Append((char)code); // An unpaired surrogate is also accepted, so that any stored string can be read.
        position += 6;
        return true;
    }

    // Checks a value that is not a string. A value that does not end is an error at the end of the text, because more lines may follow (F2).
    private bool SkipValue()
    {
        var reader = new Utf8JsonReader(_text[_position..], isFinalBlock: false, new JsonReaderState(ValueOptions));
        try
        {
            if (!reader.Read() || !reader.TrySkip())
            {
                return Fail(_text.Length, "the value does not end");
            }
        }
        catch (JsonException e)
        {
            return Fail(_position + (int)reader.BytesConsumed, $"the value is not JSON: {e.Message.Split(" LineNumber:")[0]}");
        }

        _position += (int)reader.BytesConsumed;
        return true;
    }

    private bool TryDecode(int start, int end, out string text)
    {
        ReadOnlySpan<byte> bytes = _text[start..end];
        if (Ascii.IsValid(bytes))
        {
            text = Encoding.Latin1.GetString(bytes); // For ASCII the result is the same, in one pass.
            return true;
        }

        try
        {
            text = Strict.GetString(bytes);
            return true;
        }
        catch (DecoderFallbackException e)
        {
            text = "";
            return Fail(start + Math.Max(0, e.Index), "the text is not UTF-8");
        }
    }

    private bool TakeColon()
    {
        SkipSpace();
        if (!Take((byte)':', "a colon"))
        {
            return false;
        }

        SkipSpace();
        return true;
    }

    private void SkipSpace()
    {
        while (_position < _text.Length && _text[_position] is (byte)' ' or (byte)'\n' or (byte)'\r' or (byte)'\t')
        {
            _position++;
        }
    }

    private bool TryTake(byte expected)
    {
        if (_position >= _text.Length || _text[_position] != expected)
        {
            return false;
        }

        _position++;
        return true;
    }

    private bool TryTakeText(ReadOnlySpan<byte> expected)
    {
        if (!_text[_position..].StartsWith(expected))
        {
            return false;
        }

        _position += expected.Length;
        return true;
    }

    private bool Take(byte expected, string what) => TryTake(expected) || Fail(_position, $"{what} was expected");

    private bool Fail(int position, string error)
    {
        _error = error;
        _errorAt = position;
        return false;
    }
}
