using System.Buffers.Binary;
using System.Globalization;

namespace Cairn.HitRate.Traces;

/// <summary>Converts the bytes of a trace to numbered keys.</summary>
internal static class TraceReader
{
    /// <exception cref="InvalidDataException">The bytes do not have the format <paramref name="format"/>.</exception>
    public static Trace Read(string name, Stream source, TraceFormat format)
    {
        var numbers = new KeyNumbers();

        switch (format)
        {
            case TraceFormat.BlockRanges:
                ReadBlockRanges(source, numbers);
                break;
            case TraceFormat.BigEndianKeys:
                ReadBigEndianKeys(source, numbers);
                break;
            case TraceFormat.TimedObjects:
                ReadTimedObjects(source, numbers);
                break;
            default:
                throw new ArgumentOutOfRangeException(nameof(format), format, "Not a known trace format.");
        }

        return numbers.ToTrace(name);
    }

    private static void ReadBlockRanges(Stream source, KeyNumbers numbers)
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

    private static void ReadTimedObjects(Stream source, KeyNumbers numbers)
    {
        using var reader = new StreamReader(source, leaveOpen: true);
        for (var lineNumber = 1; reader.ReadLine() is { } line; lineNumber++)
        {
            numbers.Add(Field(line, 1, lineNumber));
        }
    }

    private static void ReadBigEndianKeys(Stream source, KeyNumbers numbers)
    {
        Span<byte> key = stackalloc byte[sizeof(long)];
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

            numbers.Add(BinaryPrimitives.ReadInt64BigEndian(key));
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

    /// <summary>Numbers keys in the order of their first request.</summary>
    private sealed class KeyNumbers
    {
        private readonly Dictionary<long, int> _numbers = [];
        private readonly List<int> _requests = [];

        public void Add(long key)
        {
            if (!_numbers.TryGetValue(key, out var number))
            {
                number = _numbers.Count;
                _numbers.Add(key, number);
            }

            _requests.Add(number);
        }

        public Trace ToTrace(string name) => new(name, [.. _requests], _numbers.Count);
    }
}
