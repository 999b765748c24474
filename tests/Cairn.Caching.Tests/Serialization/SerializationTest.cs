using Cairn.Caching.Serialization;

namespace Cairn.Caching.Tests.Serialization;

/// <summary>Writing values into envelopes, and reading them again.</summary>
public abstract class SerializationTest
{
    internal const string Key = "book:42";

    internal static readonly EnvelopeHeader PlainHeader = new() { CreatedAt = 1, FreshUntil = 2, UsableUntil = 3 };

    private protected static Codecs Default { get; } = new(new());

    private protected static byte[] Write<T>(T value, Codecs? codecs = null, string key = Key, EnvelopeHeader? header = null, bool compress = true)
    {
        codecs ??= Default;
        using var buffer = new PooledBuffer();
        Assert.True(codecs.TryWrite(buffer, key, header ?? PlainHeader, codecs.Of<T>(), value, compress));
        return buffer.WrittenSpan.ToArray();
    }

    private protected static EnvelopeStatus Read<T>(byte[] envelope, out T? value, Codecs? codecs = null, string key = Key)
    {
        codecs ??= Default;
        return codecs.TryRead(envelope, key, codecs.Of<T>(), out _, out value);
    }

    private protected static T? RoundTrip<T>(T value, Codecs? codecs = null)
    {
        Assert.Equal(EnvelopeStatus.Ok, Read(Write(value, codecs), out T? read, codecs));
        return read;
    }
}
