using System.Buffers.Binary;
using System.Globalization;

namespace Cairn.HitRate.Traces;

/// <summary>Converts the bytes of a trace to numbered keys.</summary>
internal static class TraceReader
{
    /// <exception cref="InvalidDataException">The bytes do not have the format <paramref name="format"/>.</exception>
    public static Trace Read(string name, Stream source, TraceFormat format)
    {
        var numbers = new KeyNumbers<long>();

        switch (format)
        {
            case TraceFormat.BlockRanges:
                ReadBlockRanges(source, numbers);
                break;
            case TraceFormat.BigEndianKeys:
                ReadBigEndianKeys(source, numbers, sizeof(long));
                break;
            case TraceFormat.BigEndianShortKeys:
                ReadBigEndianKeys(source, numbers, sizeof(int));
                break;
            case TraceFormat.Lines:
                return ReadLines(name, source);
            case TraceFormat.TimedObjects:
                ReadTimedObjects(source, numbers);
                break;
            default:
                throw new ArgumentOutOfRangeException(nameof(format), format, "Not a known trace format.");
        }

        return numbers.ToTrace(name);
    }

    private static void ReadBlockRanges(Stream source, KeyNumbers<long> numbers)
    {
        using var reader = new StreamReader(source, leaveOpen: true);
        for (var lineNumber = 1; reader.ReadLine() is { } line; lineNumber++)
        {
            var start = Field(line, 0, lineNumber);
            var count = Field(line, 1, lineNumber);
            for (var block = start; block < start + count; block++)
            {
                numbers.Add(block);
            }
        }
    }

    private static void ReadTimedObjects(Stream source, KeyNumbers<long> numbers)
    {
        using var reader = new StreamReader(source, leaveOpen: true);
        for (var lineNumber = 1; reader.ReadLine() is { } line; lineNumber++)
        {
            numbers.Add(Field(line, 1, lineNumber), SizeIn(Field(line, 2, lineNumber), line, lineNumber));
        }
    }

    private static Trace ReadLines(string name, Stream source)
    {
        var numbers = new KeyNumbers<string>();
        using var reader = new StreamReader(source, leaveOpen: true);
        for (var lineNumber = 1; reader.ReadLine() is { } line; lineNumber++)
        {
            var fields = line.Split((char[])[' ', '\t'], StringSplitOptions.RemoveEmptyEntries);
            switch (fields.Length)
            {
                case 0:
                case 1 when fields[0] == "*":
                    break;
                case 1:
                    numbers.Add(fields[0]);
                    break;
                case 2 when long.TryParse(fields[1], CultureInfo.InvariantCulture, out var size):
                    numbers.Add(fields[0], SizeIn(size, line, lineNumber));
                    break;
                default:
                    throw new InvalidDataException($"Line {lineNumber}: \"{line}\" is not a key with an optional size.");
            }
        }

        return numbers.ToTrace(name);
    }

    private static void ReadBigEndianKeys(Stream source, KeyNumbers<long> numbers, int keyBytes)
    {
        Span<byte> key = stackalloc byte[sizeof(long)];
        key = key[..keyBytes];
        while (true)
        {
            var bytesRead = source.ReadAtLeast(key, key.Length, throwOnEndOfStream: false);
            if (bytesRead == 0)
            {
                return;
            }

            if (bytesRead < key.Length)
            {
                throw new InvalidDataException($"The trace ends {bytesRead} bytes into a key of {key.Length}.");
            }

            numbers.Add(keyBytes == sizeof(int) ? BinaryPrimitives.ReadInt32BigEndian(key) : BinaryPrimitives.ReadInt64BigEndian(key));
        }
    }

    private static long Field(string line, int index, int lineNumber)
    {
        var fields = line.AsSpan().Split(' ');
        for (var skipped = 0; fields.MoveNext(); skipped++)
        {
            if (skipped == index && long.TryParse(line.AsSpan()[fields.Current], CultureInfo.InvariantCulture, out var value))
            {
                return value;
            }
        }

        throw new InvalidDataException($"Line {lineNumber}: field {index + 1} of \"{line}\" is not a number.");
    }

    private static int SizeIn(long size, string line, int lineNumber) => size is >= 0 and <= int.MaxValue
        ? (int)size
        : throw new InvalidDataException($"Line {lineNumber}: the size in \"{line}\" is not from 0 to {int.MaxValue}.");

    /// <summary>Numbers keys in the order of their first request.</summary>
    private sealed class KeyNumbers<TKey>
        where TKey : notnull
    {
        private readonly Dictionary<TKey, int> _numbers = [];
        private readonly List<int> _requests = [];
        private readonly List<int> _sizes = [];
        private bool _hasSizes;

        public void Add(TKey key, int? size = null)
        {
            if (!_numbers.TryGetValue(key, out var number))
            {
                number = _numbers.Count;
                _numbers.Add(key, number);
                _sizes.Add(1);
            }

            if (size is { } bytes)
            {
                _sizes[number] = bytes;
                _hasSizes = true;
            }

            _requests.Add(number);
        }

        public Trace ToTrace(string name) => new(name, [.. _requests], _numbers.Count) { Sizes = _hasSizes ? [.. _sizes] : [] };
    }
}
