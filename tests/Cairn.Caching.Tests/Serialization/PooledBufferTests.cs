using System.Buffers;
using System.Text;
using System.Xml.Serialization;
using Cairn.Caching.Serialization;
using Microsoft.Extensions.Caching.Hybrid;

namespace Cairn.Caching.Tests.Serialization;

/// <summary>The buffer into which values are written, and its reaction to a value that is too large.</summary>
public sealed class PooledBufferTests : SerializationTest
{
    [Fact]
    public void Written_bytes_stay_when_the_buffer_grows()
    {
        using var buffer = new PooledBuffer();
        byte[] bytes = TestBytes.Of(100_000);

        foreach (byte[] piece in bytes.Chunk(333))
        {
            buffer.Write(piece);
        }

        buffer.Written[0] ^= 0xFF;
        bytes[0] ^= 0xFF;
        Assert.Equal(bytes, buffer.WrittenSpan);
        Assert.Equal(bytes, buffer.WrittenMemory);
    }

    [Fact]
    public void Span_is_never_empty()
    {
        using var buffer = new PooledBuffer();

        for (int written = 0; written < 2000; written++)
        {
            Assert.False(buffer.GetSpan().IsEmpty);
            Assert.False(buffer.GetMemory().IsEmpty);
            buffer.Advance(1);
        }
    }

    [Fact]
    public void Buffer_is_empty_after_reset_and_after_disposal_and_can_be_used_again()
    {
        using var buffer = new PooledBuffer();
        buffer.Write(TestBytes.Of(1000));
        buffer.Reset();
        Assert.True(buffer.WrittenSpan.IsEmpty);
        buffer.Write([1]);

        buffer.Dispose();
        buffer.Dispose();
        Assert.True(buffer.WrittenSpan.IsEmpty);
        buffer.Write([2]);

        Assert.Equal(new byte[] { 2 }, buffer.WrittenSpan);
    }

    [Fact]
    public void More_than_was_asked_for_cannot_be_advanced()
    {
        using var buffer = new PooledBuffer();
        int room = buffer.GetSpan().Length;

        Assert.Throws<InvalidOperationException>(() => buffer.Advance(room + 1));
        Assert.Throws<ArgumentOutOfRangeException>(() => buffer.Advance(-1));
        Assert.Throws<ArgumentOutOfRangeException>(() => buffer.GetSpan(-1));
    }

    [Fact]
    public void Limit_is_exact()
    {
        using var buffer = new PooledBuffer(100);
        buffer.Write(new byte[100]);

        Assert.False(buffer.HasOverflowed);
        Assert.Throws<PayloadTooLargeException>(() => buffer.Write([1]));
        Assert.True(buffer.HasOverflowed);
        Assert.Equal(100, buffer.WrittenBytes);
    }

    [Theory]
    [InlineData(1000, true)]
    [InlineData(1001, false)]
    public void Value_over_the_limit_is_not_written(int bytes, bool expected)
    {
        var codecs = new Codecs(new() { MaximumPayloadBytes = 1000 });
        using var buffer = new PooledBuffer();

        Assert.Equal(expected, codecs.TryWrite(buffer, Key, PlainHeader, codecs.Of<byte[]>(), new byte[bytes]));
        buffer.Reset();
        Assert.Equal(expected, codecs.TryWrite(buffer, Key, PlainHeader, new LocalPayload(new byte[bytes], (byte)CairnFormat.Raw, 1)));

        // The limit belonged to the value, not to the buffer.
        buffer.Reset();
        buffer.Write(new byte[5000]);
    }

    [Fact]
    public void Serializers_of_every_kind_end_early_and_quietly_when_the_value_is_too_large()
    {
        var codecs = new Codecs(new() { MaximumPayloadBytes = 1000, Serializers = [new Swallowing()] });

        AssertTooLarge(codecs, new string('é', 501));
        AssertTooLarge(codecs, new string('é', 100_000));
        AssertTooLarge(codecs, new List<string> { new('a', 10_000) });
        AssertTooLarge(codecs, new CodecTests.XmlBook { Title = new('a', 10_000) });
        AssertTooLarge(codecs, new CodecTests.Contract { Pages = [.. Enumerable.Range(0, 100_000)] });
        AssertTooLarge(codecs, new StringBuilder());
    }

    [Fact]
    public void Exception_of_a_serializer_reaches_the_writer()
    {
        using var buffer = new PooledBuffer();

        Assert.ThrowsAny<Exception>(() => Default.TryWrite(buffer, Key, PlainHeader, Default.Of<Throwing>(), new Throwing()));
        Assert.ThrowsAny<Exception>(() => Default.TryWrite(new PooledBuffer(), Key, PlainHeader, Default.Of<ThrowingXml>(), new ThrowingXml()));

        // It also leaves nothing in the writers that are reused.
        Assert.Equal(["a"], RoundTrip<List<string>>(["a"]));
    }

    private static void AssertTooLarge<T>(Codecs codecs, T value)
    {
        using var buffer = new PooledBuffer();

        Assert.False(codecs.TryWrite(buffer, Key, PlainHeader, codecs.Of<T>(), value), typeof(T).ToString());
        Assert.True(buffer.WrittenBytes <= Envelope.FixedBytes + 1000);
    }

    public sealed class Throwing
    {
        public string Before { get; } = "a";

        public int Value => throw new NotSupportedException(Before);
    }

    [XmlRoot("throwing")]
    public sealed class ThrowingXml
    {
        public int Value
        {
            get => throw new NotSupportedException("no value");
            set => Assert.Equal(0, value);
        }
    }

    private sealed class Swallowing : IHybridCacheSerializer<StringBuilder>
    {
        public StringBuilder Deserialize(ReadOnlySequence<byte> source) => throw new NotSupportedException();

        public void Serialize(StringBuilder value, IBufferWriter<byte> target)
        {
            try
            {
                target.Write((ReadOnlySpan<byte>)new byte[10_000]);
            }
            catch (Exception)
            {
                target.Write((ReadOnlySpan<byte>)[1]);
            }
        }
    }
}
