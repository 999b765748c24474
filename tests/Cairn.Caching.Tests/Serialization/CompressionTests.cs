using System.IO.Compression;
using Cairn.Caching.Serialization;

namespace Cairn.Caching.Tests.Serialization;

/// <summary>The values that are compressed, and the limits on reading them.</summary>
public sealed class CompressionTests : SerializationTest
{
    private static readonly Codecs Small = new(new() { CompressionThresholdBytes = 100 });

    [Theory]
    [InlineData(99, false)]
    [InlineData(100, true)]
    [InlineData(100_000, true)]
    public void Payload_is_compressed_from_the_threshold_on(int length, bool expected)
    {
        byte[] envelope = Write(new string('a', length), Small);

        Assert.Equal(expected, IsCompressed(envelope));
        Assert.Equal(EnvelopeStatus.Ok, Read(envelope, out string? read, Small));
        Assert.Equal(length, read!.Length);
    }

    [Fact]
    public void Compression_can_be_left_out_for_a_call_and_for_a_cache()
    {
        string text = new('a', 10_000);

        Assert.False(IsCompressed(Write(text, Small, compress: false)));
        Assert.False(IsCompressed(Write(text, new Codecs(new() { DisableCompression = true }))));
    }

    // A value with random bytes cannot be compressed to less than these bytes.
    [Theory]
    [InlineData(1000, false)]
    [InlineData(900, false)]
    [InlineData(500, true)]
    public void Compression_is_kept_only_if_it_saves_an_eighth(int randomBytes, bool expected)
    {
        byte[] bytes = [.. TestBytes.Of(randomBytes), .. new byte[1000 - randomBytes]];

        byte[] envelope = Write(bytes, Small);

        Assert.Equal(expected, IsCompressed(envelope));
        Assert.Equal(EnvelopeStatus.Ok, Read(envelope, out byte[]? read, Small));
        Assert.Equal(bytes, read);
        Assert.True(expected ? envelope.Length <= Envelope.FixedBytes + 875 : envelope.Length == Envelope.FixedBytes + 1000);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(4)]
    [InlineData(11)]
    public void Every_quality_comes_back(int quality)
    {
        var codecs = new Codecs(new() { CompressionQuality = quality });
        List<string> value = [.. Enumerable.Range(0, 2000).Select(number => $"book {number * 7919 % 1000}")];

        byte[] envelope = Write(value, codecs);

        Assert.True(IsCompressed(envelope));
        Assert.Equal(EnvelopeStatus.Ok, Read(envelope, out List<string>? read));
        Assert.Equal(value, read);
    }

    [Fact]
    public void Payload_that_would_become_larger_than_is_kept_is_refused_before_it_is_decompressed()
    {
        var generous = new Codecs(new() { MaximumPayloadBytes = 64 << 20 });
        byte[] envelope = Write(new byte[32 << 20], generous);
        Read(envelope, out byte[]? _, new Codecs(new() { MaximumPayloadBytes = 1000 }));

        long before = GC.GetAllocatedBytesForCurrentThread();
        EnvelopeStatus status = Read(envelope, out byte[]? _);
        EnvelopeStatus payloadStatus = Default.TryReadPayload(envelope, Key, Default.Of<byte[]>(), out _, out LocalPayload? _);

        Assert.True(IsCompressed(envelope));
        Assert.Equal(EnvelopeStatus.TooLarge, status);
        Assert.Equal(EnvelopeStatus.TooLarge, payloadStatus);
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, 100_000);
    }

    // The recorded length is only an upper bound: any other length is damage.
    [Theory]
    [InlineData(9_999)]
    [InlineData(10_001)]
    [InlineData(100_000)]
    [InlineData(-1)]
    [InlineData(0)]
    public void Payload_of_another_length_than_recorded_is_damaged(int recorded)
    {
        byte[] envelope = Write(new string('a', 10_000));
        BitConverter.TryWriteBytes(envelope.AsSpan(48), recorded);
        Envelope.Seal(envelope, Key);

        Assert.Equal(EnvelopeStatus.Damaged, Read(envelope, out string? _));
        Assert.Equal(EnvelopeStatus.Damaged, Default.TryReadPayload(envelope, Key, Default.Of<string>(), out _, out _));
    }

    [Fact]
    public void Bytes_behind_the_compressed_payload_are_damage()
    {
        byte[] compressed = new byte[100];
        Assert.True(BrotliEncoder.TryCompress(new byte[1000], compressed, out int length, 1, 16));

        Assert.True(Compression.TryDecompress(compressed.AsSpan(0, length), new byte[1000]));
        Assert.False(Compression.TryDecompress(compressed.AsSpan(0, length + 1), new byte[1000]));
        Assert.False(Compression.TryDecompress(compressed.AsSpan(0, length - 1), new byte[1000]));
        Assert.False(Compression.TryDecompress([], new byte[1000]));
    }

    private static bool IsCompressed(byte[] envelope) => (envelope[6] & (int)EnvelopeFlags.Compressed) != 0;
}
