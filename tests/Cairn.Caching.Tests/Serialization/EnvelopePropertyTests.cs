using Cairn.Caching.Serialization;
using Cairn.Caching.Tagging;
using FsCheck;
using FsCheck.Fluent;

namespace Cairn.Caching.Tests.Serialization;

/// <summary>Every written value is read again. Bytes that are not an envelope are refused without an exception.</summary>
public sealed class EnvelopePropertyTests : SerializationTest
{
    private const int Runs = 500;

    // Compresses often, so that every run covers both kinds.
    private static readonly Codecs Eager = new(new() { CompressionThresholdBytes = 16, MaximumPayloadBytes = 1 << 16 });

    [Fact]
    public void Every_envelope_comes_back_whole()
    {
        // A failure prints the envelope, shrunk, and the seed to replay it with.
        Prop.ForAll(Envelopes().ToArbitrary(), ComesBack).Check(Config.QuickThrowOnFailure.WithMaxTest(Runs));
    }

    [Fact]
    public void Every_text_comes_back()
    {
        Prop.ForAll(Texts().ToArbitrary(), text => RoundTrip(text, Eager) == text).Check(Config.QuickThrowOnFailure.WithMaxTest(Runs));
    }

    [Fact]
    public void Every_text_in_xml_and_binary_comes_back()
    {
        Gen<string> valid = Texts().Where(IsValid);
        Prop.ForAll(valid.ToArbitrary(), text =>
            RoundTrip(new CodecTests.XmlBook { Title = text }, Eager)!.Title == text
            && RoundTrip(new CodecTests.Contract { Author = new() { Name = text } }, Eager)!.Author!.Name == text)
            .Check(Config.QuickThrowOnFailure.WithMaxTest(Runs));
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(4)]
    public void Random_bytes_never_throw(int seed)
    {
        var random = new Random(seed);
        byte[] begin = Write("Dune")[..8];
        for (int run = 0; run < 5000; run++)
        {
            byte[] bytes = new byte[random.Next(200)];
            random.NextBytes(bytes);
            if (random.Next(2) == 0)
            {
                begin.AsSpan(0, Math.Min(begin.Length, bytes.Length)).CopyTo(bytes); // Beyond the magic.
            }

            Assert.NotEqual(EnvelopeStatus.Ok, Read(bytes, out string? _));
        }
    }

    // The checksum is correct, but the content is not: only an attacker creates such an envelope.
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(4)]
    public void Sealed_nonsense_never_throws(int seed)
    {
        var random = new Random(seed);
        var header = new EnvelopeHeader
        {
            SlidingMs = 1,
            LastModified = DateTimeOffset.UnixEpoch,
            ETag = "a",
            Tags = new TagStamps([new Tag("a", 1), new Tag("b", 2)], [1, 2]),
        };
        for (int run = 0; run < 1500; run++)
        {
            Mutated("Dune");
            Mutated(new string('a', 200));
            Mutated(42);
            Mutated<DateTimeOffset?>(DateTimeOffset.UnixEpoch);
            Mutated(9.90m);
            Mutated(TimeOnly.MinValue);
            Mutated(new Uri("http://example.org"));
            Mutated(new List<string> { "Dune", "Emma" });
            Mutated(new CodecTests.XmlBook { Title = "Dune" });
            Mutated(new CodecTests.Contract { Author = new() { Name = "Frank" }, Pages = [1, 2], Shape = new CodecTests.Circle() });
        }

        void Mutated<T>(T value)
        {
            byte[] envelope = Write(value, Eager, header: random.Next(2) == 0 ? header : PlainHeader);
            for (int changes = random.Next(1, 4); changes > 0; changes--)
            {
                // Changes lengths, flags and the payload. A changed type would only be another type.
                int at = random.Next(envelope.Length - 12);
                at = at < 4 ? at + 4 : at < 16 ? at : at + 12;
                envelope[at] = random.Next(3) switch
                {
                    0 => (byte)random.Next(256),
                    1 => 0xFF,
                    _ => (byte)(envelope[at] ^ (1 << random.Next(8))),
                };
            }

            if (random.Next(4) == 0)
            {
                envelope = envelope[..random.Next(Envelope.FixedBytes, envelope.Length)];
            }

            Envelope.Seal(envelope, Key);
            EnvelopeStatus status = Eager.TryRead(envelope, Key, Eager.Of<T>(), out EnvelopeHeader read, out T? _);
            Eager.TryReadPayload(envelope, Key, Eager.Of<T>(), out EnvelopeHeader _, out LocalPayload? _);
            if (status == EnvelopeStatus.Ok)
            {
                int tags = 0;
                foreach (EnvelopeTag tag in read.StoredTags)
                {
                    Assert.NotNull(tag.Name);
                    tags++;
                }

                Assert.Equal(read.StoredTags.Count, tags);
            }
        }
    }

    private static bool ComesBack(Sample sample)
    {
        byte[] envelope = Write(sample.Value, Eager, sample.Key, sample.Header);

        EnvelopeStatus status = Eager.TryRead(envelope, sample.Key, Eager.Of<byte[]>(), out EnvelopeHeader read, out byte[]? value);

        var tags = new List<(string, ulong)>();
        foreach (EnvelopeTag tag in read.StoredTags)
        {
            tags.Add((tag.Name, tag.Stamp));
        }

        TagStamps? expected = sample.Header.Tags;
        return status == EnvelopeStatus.Ok
            && (sample.Value is null ? value is null : value is not null && value.AsSpan().SequenceEqual(sample.Value))
            && read.CreatedAt == sample.Header.CreatedAt
            && read.FreshUntil == sample.Header.FreshUntil
            && read.UsableUntil == sample.Header.UsableUntil
            && read.SlidingMs == sample.Header.SlidingMs
            && read.ETag == sample.Header.ETag
            && read.LastModified == sample.Header.LastModified
            && tags.SequenceEqual((expected?.Tags ?? []).Select((tag, index) => (tag.Name, expected!.Stamps[index])));
    }

    private static Gen<Sample> Envelopes() =>
        from key in Texts()
        from value in Gen.OneOf(
            Gen.Constant<byte[]?>(null),
            Gen.Choose(0, 3000).Select(length => (byte[]?)TestBytes.Of(length)),
            Gen.Choose(0, 3000).Select(length => (byte[]?)new byte[length]))
        from times in Gen.Choose(int.MinValue, int.MaxValue).Select(value => value * 1_000_003L).Three()
        from sliding in Gen.OneOf(Gen.Constant(0L), Gen.Choose(1, int.MaxValue).Select(value => (long)value))
        from etag in Gen.OneOf(Gen.Constant<string?>(null), Texts().Where(IsValid).Select(text => (string?)text))
        from modified in Gen.OneOf(
            Gen.Constant<DateTimeOffset?>(null),
            Gen.Choose(0, int.MaxValue).Select(value => (DateTimeOffset?)DateTimeOffset.MinValue.AddTicks(value * 1_000_000_007L)))
        from names in Texts().Where(IsValid).ListOf()
        select new Sample(key, value, new EnvelopeHeader
        {
            CreatedAt = times.Item1,
            FreshUntil = times.Item2,
            UsableUntil = times.Item3,
            SlidingMs = sliding,
            ETag = etag,
            LastModified = modified,
            Tags = new([.. names.Select(name => new Tag(name, 1))], [.. names.Select((_, index) => (ulong)index * 0x9E37_79B9_7F4A_7C15)]),
        });

    // All UTF-16 code units, with many ASCII characters, and halves of surrogate pairs in any order.
    private static Gen<string> Texts() =>
        Gen.OneOf(Gen.Choose(0, 0x7F), Gen.Choose(0, 0xFFFF), Gen.Choose(0xD800, 0xDFFF)).Select(unit => (char)unit)
            .ListOf().Select(units => string.Concat(units));

    private static bool IsValid(string text)
    {
        for (int at = 0; at < text.Length; at++)
        {
            if (char.IsSurrogate(text[at]) && (at + 1 == text.Length || !char.IsSurrogatePair(text[at], text[++at])))
            {
                return false;
            }
        }

        return true;
    }

    private sealed record Sample(string Key, byte[]? Value, EnvelopeHeader Header);
}
