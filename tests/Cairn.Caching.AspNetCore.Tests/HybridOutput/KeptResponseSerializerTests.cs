using System.Buffers;
using System.Text;
using Cairn.Caching.AspNetCore.HybridOutput;

namespace Cairn.Caching.AspNetCore.Tests.HybridOutput;

/// <summary>The serialization of kept responses.</summary>
public sealed class KeptResponseSerializerTests
{
    private static readonly KeptResponse Whole = new(
        "text/plain", "\"tag\"", [new("X-Author", ["Ueda", "Fälk"]), new("X-Empty", []), new("X-Null", [null])], "body"u8.ToArray(), 1_795_000_000, isAnsweredEarly: true);

    [Fact]
    public void Response_is_read_as_it_was_written()
    {
        KeptResponse read = Read(Write(Whole));

        Assert.Equal(
            ("text/plain", "\"tag\"", "body", 1_795_000_000L, true),
            (read.ContentType, read.EntityTag, Encoding.UTF8.GetString(read.Body.Span), read.CreatedSeconds, read.IsAnsweredEarly));
        Assert.Equal(["X-Author", "X-Empty", "X-Null"], read.Others.Select(header => header.Key));
        Assert.Equal<string?>(["Ueda", "Fälk"], read.Others[0].Value.AsEnumerable());
        Assert.Equal<string?>([""], read.Others[2].Value.AsEnumerable());
    }

    [Fact]
    public void Response_without_content_is_read_as_it_was_written()
    {
        KeptResponse read = Read(Write(new KeptResponse(contentType: null, "\"\"", [], [], createdSeconds: 0, isAnsweredEarly: false)));

        Assert.Null(read.ContentType);
        Assert.Empty(read.Others);
        Assert.True(read.Body.IsEmpty);
        Assert.False(read.IsAnsweredEarly);
    }

    [Fact]
    public void Bytes_that_end_too_early_are_refused()
    {
        byte[] bytes = Write(Whole);
        int headBytes = bytes.Length - Whole.Body.Length;

        for (int length = 0; length < headBytes; length++)
        {
            Assert.Throws<InvalidDataException>(() => Read(bytes[..length]));
        }
    }

    [Fact]
    public void Any_changed_byte_gives_a_response_or_is_refused()
    {
        byte[] bytes = Write(Whole);
        int refused = 0;
        for (int at = 0; at < bytes.Length; at++)
        {
            for (int value = 0; value <= byte.MaxValue; value++)
            {
                byte[] changed = [.. bytes];
                changed[at] = (byte)value;
                try
                {
                    Assert.InRange(Read(changed).Body.Length, 0, bytes.Length);
                }
                catch (InvalidDataException)
                {
                    refused++;
                }
            }
        }

        Assert.InRange(refused, byte.MaxValue, bytes.Length * byte.MaxValue);
    }

    private static byte[] Write(KeptResponse response)
    {
        var target = new ArrayBufferWriter<byte>();
        new KeptResponseSerializer().Serialize(response, target);
        return target.WrittenSpan.ToArray();
    }

    private static KeptResponse Read(byte[] bytes) => new KeptResponseSerializer().Deserialize(new ReadOnlySequence<byte>(bytes));
}
