using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using Cairn.Caching;
using Cairn.Caching.Protobuf;
using Cairn.Caching.Serialization;

namespace Cairn.Cli.Formats;

/// <summary>One format, with or without compression, and what its rounds have shown.</summary>
internal sealed class FormatTrial : IDisposable
{
    private readonly Codecs _codecs;
    private readonly Codec<Catalogue> _codec;
    private readonly Catalogue _value;
    private readonly IFormatTransport _transport;
    private readonly PooledBuffer _written = new();
    private readonly PooledBuffer _read = new();
    private readonly string _key;
    private readonly List<Round> _rounds = [];
    private byte[] _plain = [];

    [UnconditionalSuppressMessage("Trimming", "IL2026", Justification = "The types that are written are named here, with all their members.")]
    public FormatTrial(CairnFormat format, bool isCompressed, Catalogue value, IFormatTransport transport)
    {
        Format = format;
        IsCompressed = isCompressed;
        _value = value;
        _transport = transport;
        _key = $"cairn:serializers:{Environment.ProcessId}:{format}:{isCompressed}";
        _codecs = new Codecs(new CodecOptions
        {
            Formats = new Dictionary<Type, CairnFormat> { [typeof(Catalogue)] = format },
            Factories = [new CairnProtobufSerializerFactory()],
            JsonResolvers = [CatalogueJson.Default],
            MaximumPayloadBytes = int.MaxValue,
        });
        _codec = _codecs.Of<Catalogue>();
    }

    /// <summary>What is written lives so long.</summary>
    public static TimeSpan TimeToLive { get; } = TimeSpan.FromMinutes(5);

    public CairnFormat Format { get; }

    public bool IsCompressed { get; }

    /// <summary>Bytes that are stored.</summary>
    public int Bytes { get; private set; }

    public int Rounds => _rounds.Count;

    /// <summary>Writes and reads once, and checks what comes back.</summary>
    /// <param name="counts">False for a round that only warms up.</param>
    public void Run(bool counts)
    {
        var round = default(Round);
        _written.Reset();
        _read.Reset();
        long allocated = GC.GetAllocatedBytesForCurrentThread();
        long from = Stopwatch.GetTimestamp();
        if (!_codecs.TrySerialize(_codec, _value, _written))
        {
            throw new InvalidOperationException($"{Format} is longer than a payload may be.");
        }

        int plainBytes = _written.WrittenBytes;
        bool isCompressed = IsCompressed && Compression.TryCompress(_written, 0, _codecs.Options.CompressionQuality);
        round.Serialize = Lap(ref from);
        round.SerializeAllocated = GC.GetAllocatedBytesForCurrentThread() - allocated;
        _transport.Write(_key, _written.WrittenMemory);
        round.Write = Lap(ref from);
        _transport.Read(_key, _read);
        round.Read = Lap(ref from);
        allocated = GC.GetAllocatedBytesForCurrentThread();
        ReadOnlyMemory<byte> payload = _read.WrittenMemory;
        if (isCompressed)
        {
            if (_plain.Length < plainBytes)
            {
                _plain = new byte[plainBytes];
            }

            if (!Compression.TryDecompress(payload.Span, _plain.AsSpan(0, plainBytes)))
            {
                throw new InvalidDataException($"What {_transport.Name} gave back is not what was written.");
            }

            payload = _plain.AsMemory(0, plainBytes);
        }

        Catalogue copy = _codec.Deserialize(payload);
        round.Deserialize = Lap(ref from);
        round.DeserializeAllocated = GC.GetAllocatedBytesForCurrentThread() - allocated;
        if (!copy.Records.SequenceEqual(_value.Records))
        {
            throw new InvalidDataException($"What came back as {Format} is not what was written.");
        }

        Bytes = _written.WrittenBytes;
        if (counts)
        {
            _rounds.Add(round);
        }
    }

    /// <summary>The median of a part of the rounds.</summary>
    public double Median(Func<Round, double> part)
    {
        double[] values = [.. _rounds.Select(part).Order()];
        return values.Length % 2 == 1 ? values[values.Length / 2] : (values[(values.Length / 2) - 1] + values[values.Length / 2]) / 2;
    }

    /// <summary>Removes what was written.</summary>
    public void Dispose()
    {
        _transport.Remove(_key);
        _written.Dispose();
        _read.Dispose();
    }

    private static double Lap(ref long from)
    {
        long now = Stopwatch.GetTimestamp();
        double microseconds = Stopwatch.GetElapsedTime(from, now).TotalMicroseconds;
        from = now;
        return microseconds;
    }

    /// <summary>What one round took: microseconds, and bytes that were allocated.</summary>
    internal record struct Round(double Serialize, double Write, double Read, double Deserialize, double SerializeAllocated, double DeserializeAllocated);
}
